import ArgumentParser
import AuthorizationServer
import Foundation
import NIOCore
import NIOPosix
import SiwaBinary
import TestSupport
import Testing

@testable import Composition
@testable import siwa
@testable import siwa_dev

/// Output of the command line itself.
@Suite struct CommandLineTests {
    @Test(arguments: [
        (["servr"], "siwa has no command \"servr\". Did you mean serve? siwa --help lists them."),
        (
            ["client", "nwe"],
            "siwa client has no command \"nwe\". Did you mean new? siwa client --help lists them."
        ),
        (
            ["healthchek"],
            "siwa has no command \"healthchek\". Did you mean healthcheck? siwa --help lists them."
        ),
        (["help", "frobnicate"], "siwa has no command \"frobnicate\". siwa --help lists them."),
        (["help", "servr"], "siwa has no command \"servr\". Did you mean serve? siwa --help lists them."),
        (
            ["help", "client", "nwe"],
            "siwa client has no command \"nwe\". Did you mean new? siwa client --help lists them."
        ),
        (["help", "serve", "x"], "siwa serve has no command \"x\". siwa serve --help describes it."),
        (["frobnicate"], "siwa has no command \"frobnicate\". siwa --help lists them."),
        (["\u{1B}[31m"], "siwa has no command \"?[31m\". siwa --help lists them."),
    ])
    func `a misspelled command gets a guess`(arguments: [String], words: String) {
        #expect(UnknownSubcommand(in: arguments, of: Siwa.self)?.description == words)
    }

    @Test(arguments: [
        [], ["serve"], ["--help"], ["help"], ["help", "serve"], ["help", "client", "new"], ["help", "help"],
        ["--version"], ["client", "new", "x"], ["client"],
        ["verify", "servr"], ["--generate-completion-script", "bash"], ["transfer", "prepare", "out"],
    ])
    func `what is spelled right is left to the parser`(arguments: [String]) {
        #expect(UnknownSubcommand(in: arguments, of: Siwa.self) == nil)
    }

    @Test func `the built command guesses too`() async throws {
        let command = try await CommandProcess.run(["servr"], [:], in: "/tmp")
        #expect(command.status == 64)
        #expect(command.output.contains("Did you mean serve?"))
    }

    @Test(arguments: [
        ["dev", "--emulator-port", "0", "--port"], ["dev", "--port", "0", "--emulator-port"],
        ["dev", "--port", "0", "--emulator-port", "0", "--receiver-port"],
        ["emulate", "--port"], ["emulate", "--google", "--port"], ["emulate", "--receiver", "--port"],
        ["serve"],
    ])
    func `an address in use is the only line of the output, which names the option to change`(
        arguments: [String]
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = String(try #require(server.localAddress?.port))
        let isService = arguments == ["serve"]
        try await TemporaryDirectory.with { directory in
            let variables = SettingsReaderTests.minimal.merging([
                "SIWA_PORT": port, "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
            ]) { $1 }
            let command = try await CommandProcess.run(
                isService ? arguments : arguments + [port], isService ? variables : [:], in: directory.path)
            #expect(command.status == 1)
            let lines = command.output.split(separator: "\n")
            #expect(lines.count == 1 && command.output.contains("127.0.0.1:\(port) is in use"), "\(lines)")
            #expect(isService || command.output.contains("another port with \(arguments.last ?? "")\n"))
            #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/siwa.sqlite"))
        }
        try await server.close()
    }

    @Test func `help about an unknown command fails`() async throws {
        let command = try await CommandProcess.run(["help", "frobnicate"], [:], in: "/tmp")
        #expect(command.status == 64 && command.output.contains("has no command"))
    }

    /// The parser continues a wrapped line at the left edge, in the middle of a list.
    @Test func `the help of every command fits 80 columns`() {
        for command in Self.commands(of: Siwa.self) + Self.commands(of: SiwaDev.self) {
            var previous = Substring()
            for line in command.helpMessage(columns: 80).split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                // The parser leaves the wrapping of its summary to the terminal.
                #expect(line.count <= 80 || line.hasPrefix("USAGE:"), "\(line)")
                let isCut = previous.hasPrefix("  ") && !line.isEmpty && !line.hasPrefix(" ")
                #expect(!isCut, "\(command): \(line)")
                previous = line
            }
        }
    }

    @Test(arguments: [("bash", "healthcheck"), ("zsh", "healthcheck"), ("fish", "healthcheck")])
    func `a shell can complete the commands`(shell: String, command: String) throws {
        let shell = try #require(CompletionShell(rawValue: shell))
        #expect(Siwa.completionScript(for: shell).contains(command))
        for name in DevelopmentCommand.allCases.map(\.rawValue) {
            #expect(Siwa.completionScript(for: shell).contains(name))
            #expect(SiwaDev.completionScript(for: shell).contains(name))
        }
    }

    @Test(arguments: [
        ("127.0.0.1", 8080, "http://127.0.0.1:8080"), ("0.0.0.0", 80, "http://127.0.0.1:80"),
        ("::", 1, "http://[::1]:1"), ("fd00::7", 8080, "http://[fd00::7]:8080"),
        ("siwa.internal", 8080, "http://siwa.internal:8080"), ("127.0.0.1", 0, nil),
    ])
    func `the health check finds the service of the configuration`(host: String, port: Int, url: String?) {
        #expect(Healthcheck.address(host: host, port: port) == url)
    }

    private static func commands(of root: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [root] + root.configuration.subcommands.flatMap { commands(of: $0) }
    }
}

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2),
    ])
    func `the distance counts single edits`(lhs: String, rhs: String, distance: Int) {
        #expect(NearestName.distance(lhs, rhs) == distance)
        #expect(NearestName.distance(rhs, lhs) == distance)
    }

    @Test(arguments: [
        ("client_id", "oauth.clients", "id"), ("client_name", "oauth.clients", "name"),
        ("client_secret", "oauth.clients", "secret_hashes"),
        ("redirect_uri", "oauth.clients", "redirect_uris"), ("scope", "oauth.clients", "scopes"),
        ("scope_name", "oauth.scopes", "name"), ("api_key_hash", "api_keys", "hash"),
        ("siwa_prot", "", "siwa_port"),
    ])
    func `a member with the noun of its entry before it is the member`(
        name: String, path: String, meant: String
    ) {
        let known =
            switch path {
            case "oauth.clients": ClientMember.all.map(\.name)
            case "oauth.scopes": ScopeDraft.members.map(\.name)
            case "api_keys": SettingsFile.Key.members.map(\.name)
            default: Setting.ofFile.map(\.nameInFile)
            }
        #expect(NearestName.of(name, among: known, inListNamed: path) == meant)
    }

    @Test func `without candidates there is no nearest name`() {
        #expect(NearestName.of("a", among: []) == nil)
    }
}

/// `siwa dev`, `emulate`, `tour` and `login` start the siwa-dev beside siwa, and no other.
@Suite(.timeLimit(.hung)) struct DevelopmentProgramTests {
    /// A siwa-dev that says where it lies, how it is called, and with which arguments.
    private static let script = "#!/bin/sh\necho \"started $0 $*\"\n"

    private static func program(in directory: TemporaryDirectory, mode: Int = 0o755) throws
        -> DevelopmentProgram
    {
        let path = directory.path(of: "siwa-dev")
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return DevelopmentProgram.beside(directory.path(of: "siwa"))
    }

    @Test(arguments: [
        (["dev", "--port", "0"], "dev"), (["help", "tour"], "tour"), (["emulate"], "emulate"),
        (["login", "--help"], "login"), (["serve"], nil), (["help"], nil), ([], nil),
        (["--help", "dev"], nil), (["verify", "--kind", "attestation", "--emulator"], "verify --emulator"),
        (["verify", "--kind", "attestation"], nil), (["help", "verify"], nil),
    ])
    func `a command of siwa-dev is known by its name`(arguments: [String], command: String?) {
        #expect(DevelopmentProgram.command(in: arguments) == command)
    }

    @Test func `the program in the folder of siwa is accepted`() async throws {
        try await TemporaryDirectory.with { directory in
            let program = try Self.program(in: directory)
            #expect(program.refusal == nil)
        }
    }

    @Test(arguments: [
        (0o4755, "other rights"), (0o2755, "other rights"), (0o6755, "other rights"), (0o757, "other users"),
        (0o777, "other users"),
    ])
    func `a program with other rights, or one that others can replace, is refused`(
        mode: Int, reason: String
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let program = try Self.program(in: directory, mode: mode)
            let refusal = try #require(program.refusal)
            #expect(refusal.contains(reason) && refusal.contains(directory.path(of: "siwa-dev")))
        }
    }

    @Test(
        arguments: [
            (0o755, 1000, 1000, false), (0o755, 0, 0, false), (0o775, 1000, 1000, false),
            (0o775, 0, 0, false), (0o775, 1000, 50, true), (0o775, 0, 50, true), (0o755, 1000, 50, false),
            (0o755, 1001, 1000, true), (0o757, 1000, 1000, true), (0o757, 0, 0, true),
        ] as [(mode_t, uid_t, gid_t, Bool)])
    func `only this user, root and their groups may write the program`(
        mode: mode_t, owner: uid_t, group: gid_t, isRefused: Bool
    ) {
        #expect(
            DevelopmentProgram.isWrittenByOthers(
                mode: mode, owner: owner, group: group, user: 1000, ownGroup: 1000) == isRefused)
    }

    @Test func `a link, a folder and a missing program are refused`() async throws {
        try await TemporaryDirectory.with { directory in
            let program = DevelopmentProgram.beside(directory.path(of: "siwa"))
            #expect(program.refusal?.contains("there is no siwa-dev at \(program.path)") == true)
            try FileManager.default.createSymbolicLink(atPath: program.path, withDestinationPath: "/bin/sh")
            #expect(program.refusal?.contains("there is no siwa-dev") == true)
            try FileManager.default.removeItem(atPath: program.path)
            try FileManager.default.createDirectory(atPath: program.path, withIntermediateDirectories: false)
            #expect(program.refusal?.contains("there is no siwa-dev") == true)
        }
    }

    @Test(arguments: DevelopmentCommand.allCases)
    func `siwa starts the siwa-dev of its own folder, with its arguments`(command: DevelopmentCommand)
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let (siwa, program) = (try Self.copySiwa(into: directory), try Self.program(in: directory))
            // Another name of siwa leads to the same folder.
            let link = URL(fileURLWithPath: directory.path(of: "link"))
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: siwa)
            for name in [siwa, link] {
                let run = try await ProgramRun.of(
                    name, [command.rawValue, "--port", "0"], environment: ["PATH": "/usr/bin:/bin"])
                #expect(run.status == 0)
                #expect(run.output == "started \(program.path) \(command.rawValue) --port 0\n")
            }
        }
    }

    @Test func `without siwa-dev beside it siwa says so, and takes none of PATH or of the working directory`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let siwa = try Self.copySiwa(into: directory)
            try await TemporaryDirectory.with { elsewhere in
                _ = try Self.program(in: elsewhere)
                let run = try await ProgramRun.of(
                    siwa, ["dev"], environment: ["PATH": "\(elsewhere.path):/usr/bin:/bin"],
                    in: elsewhere.path)
                #expect(run.status == 69)
                let place = directory.path(of: "siwa-dev")
                #expect(
                    run.output == "siwa dev is a command of siwa-dev, and there is no siwa-dev at \(place); "
                        + "build it with scripts/dev, or copy it there.\n")
            }
        }
    }

    @Test func `siwa has no secret, no root and no page of the trial, and siwa-dev has them`() throws {
        for (name, has) in [("siwa", false), ("siwa-dev", true)] {
            let binary = try Data(contentsOf: BuiltSiwa.url(of: name), options: .alwaysMapped)
            for secret in [
                "siwa_development_google", "siwa_development_web", "c2l3YSBkZXZlbG9wbWVudCB3ZWJob29r",
                "sealing key of siwa dev", "CEMYoxB9rg5I4FcMRy0msuVxPTQ=", "/world/people/{sub}/{action}",
            ] { #expect((binary.range(of: Data(secret.utf8)) != nil) == has, "\(name): \(secret)") }
        }
    }

    @Test func `siwa refuses to judge the proofs of a fake Apple, and names the program that does`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let file = try directory.write(
                """
                teams:
                  - team_id: A1B2C3D4E5
                    apps:
                      - client_ids: [com.example.app]
                        app_attest: [{bundle_id: com.example.app, app_check: monitored}]
                """, to: "siwa.yaml")
            let inFile: Set = ["APPLE_TEAM_ID", "APPLE_CLIENT_IDS"]
            let environment = SettingsReaderTests.minimal.filter { !inFile.contains($0.key) }.merging([
                "SIWA_CONFIG": file, "SIWA_PORT": "0", "SIWA_ENV": "development",
                "APPLE_BASE_URL": "http://127.0.0.1:9",
                "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
            ]) { $1 }
            let command = try await CommandProcess.run(["serve"], environment, in: directory.path)
            #expect(command.status == 78)
            #expect(command.output.contains("app_check: needs Apple's App Attest"))
            #expect(command.output.contains("start siwa-dev serve"))
            #expect(!FileManager.default.fileExists(atPath: directory.path(of: "siwa.sqlite")))
        }
    }

    private static func copySiwa(into directory: TemporaryDirectory) throws -> URL {
        let siwa = URL(fileURLWithPath: directory.path(of: "siwa"))
        try FileManager.default.copyItem(at: try BuiltSiwa.url(), to: siwa)
        return siwa
    }
}
