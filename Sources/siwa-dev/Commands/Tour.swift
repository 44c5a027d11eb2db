import ArgumentParser
import Composition
import Encodings
import Foundation

/// The `siwa tour` command.
struct Tour: ParsableCommand {
    static let servicePort = 8080
    static let applePort = 8081
    static let receiverPort = 8083
    static let clientID = "com.example.app"

    static let configuration = CommandConfiguration(
        abstract: DevelopmentCommand.tour.abstract,
        discussion: """
            Needs a running siwa dev, and curl 7.82 or later. Each step shows what happens and its command, and \
            waits for Enter. On a terminal long responses are folded, and tokens in them are cut. The commands are \
            those of README.md.
            """)

    @Option(help: "The port of siwa dev.")
    var port = Self.servicePort

    @Option(help: "The port of its fake Apple.")
    var emulatorPort = Self.applePort

    @Option(help: "The port of its receivers of events.")
    var receiverPort = Self.receiverPort

    @Option(name: .customLong("client-id"), help: "The bundle ID, the first client ID of siwa dev.")
    var clientID = Self.clientID

    @Flag(name: .customLong("print"), help: "Only print the commands, to paste them one after the other.")
    var onlyPrints = false

    @Flag(help: ArgumentHelp("Fold the responses on standard input to the terminal.", visibility: .hidden))
    var fold = false

    func validate() throws {
        guard [port, emulatorPort, receiverPort].allSatisfy((1...65535).contains) else {
            throw ValidationError("A port must be a number from 1 to 65535.")
        }
        // The client ID becomes part of a shell command, so it must need no escaping.
        guard clientID.hasOnlyLettersDigits(and: "-._"), !clientID.isEmpty else {
            throw ValidationError("--client-id must have letters, digits, dots and hyphens only.")
        }
    }

    func run() throws {
        let walkthrough = Walkthrough(
            servicePort: port, applePort: emulatorPort, receiverPort: receiverPort,
            secret: DevelopmentSettings.secret, clientID: clientID)
        guard !onlyPrints else { return print(walkthrough.lines) }
        guard !fold else { return Self.foldInput() }
        guard Self.listens(port) else {
            ErrorMessage.write(
                "siwa dev does not listen on 127.0.0.1:\(port). Start it in another terminal: \(StartedProgram.name) dev"
            )
            throw ExitCode.failure
        }
        // Replaces this process, so that the shell uses its terminal.
        _ = ProcessImage.replace(
            by: "/bin/sh",
            [
                "sh", "-c", walkthrough.script(in: TerminalStyle.layout), "siwa tour",
                Bundle.main.executablePath ?? StartedProgram.name,
            ])
        ErrorMessage.write("/bin/sh cannot be started; siwa tour --print prints the commands")
        throw ExitCode.failure
    }

    /// Prints a step's responses from the file that its commands have written.
    private static func foldInput() {
        let response = FoldedResponse(columns: TerminalStyle.columns(of: STDOUT_FILENO))
        while let line = readLine() {
            // Responses can contain text from users, so control characters are removed.
            for line in response.lines(of: ErrorMessage.withoutControls(line)) { print(line) }
        }
    }

    private static func listens(_ port: Int) -> Bool {
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = ["curl", "-sS", "-o", "/dev/null", "http://127.0.0.1:\(port)/livez"]
        curl.standardError = FileHandle.nullDevice
        guard (try? curl.run()) != nil else { return false }
        curl.waitUntilExit()
        return curl.terminationStatus == 0
    }
}
