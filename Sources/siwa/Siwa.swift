// siwa owns the process and its subcommands. It owns no rules about tokens or accounts. It contains none of
// the fakes and none of the trial's secrets, which are in siwa-dev.

import ArgumentParser
import Composition
import HTTPAPI

/// The `siwa` command.
@main
struct Siwa: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "siwa",
        abstract: "Sign in with Apple, as a service beside your backend.",
        discussion: """
            Your app gets an identity token from Apple, your backend sends it to siwa, and siwa answers who \
            the user is and whether Apple's credential is still valid. Try it without an Apple account: siwa \
            dev
            """,
        version: SiwaVersion.described,
        subcommands: [
            Serve.self, Doctor.self, Dev.self, Tour.self, Emulate.self, Verify.self, MakeAPIKey.self,
            MakeSealingKey.self, Client.self, Google.self, Deliveries.self, Audit.self,
            Reseal.self, Transfer.self, Login.self, Healthcheck.self, OpenAPI.self, Version.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let command = DevelopmentProgram.command(in: arguments) {
            let program = DevelopmentProgram.beside(DevelopmentProgram.own ?? CommandLine.arguments[0])
            Self.exit(withError: program.start(command, CommandLine.arguments))
        }
        await runNamedCommand()
    }
}

/// The `siwa version` command.
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() {
        print("siwa \(SiwaVersion.described)")
    }
}

/// The `siwa openapi` command.
struct OpenAPI: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi", abstract: "Print the OpenAPI document of the interface.",
        discussion: "A running service has the same document at GET /openapi.yaml.")

    func run() {
        print(OpenAPIDocument.text(version: SiwaVersion.current), terminator: "")
    }
}
