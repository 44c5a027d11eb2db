import Composition
import Foundation
import SiwaBinary
import TestSupport
import Testing

@testable import siwa

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

    @Test func `a link, a folder and a missing program are refused`() async throws {
        try await TemporaryDirectory.with { directory in
            let program = DevelopmentProgram.beside(directory.path(of: "siwa"))
            #expect(program.refusal?.contains("there is no siwa-dev at \(program.path)") == true)
            try FileManager.default.createSymbolicLink(
                atPath: program.path, withDestinationPath: "/bin/sh")
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

    @Test func `siwa has no secret and no root of the trial, and siwa-dev has them`() throws {
        for (name, has) in [("siwa", false), ("siwa-dev", true)] {
            let binary = try Data(contentsOf: BuiltSiwa.url(of: name), options: .alwaysMapped)
            for secret in [
                "siwa_development_google", "siwa_development_web", "c2l3YSBkZXZlbG9wbWVudCB3ZWJob29r",
                "sealing key of siwa dev", "CEMYoxB9rg5I4FcMRy0msuVxPTQ=",
            ] {
                #expect((binary.range(of: Data(secret.utf8)) != nil) == has, "\(name): \(secret)")
            }
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
            #expect(command.errorText.contains("app_check: needs Apple's App Attest"))
            #expect(command.errorText.contains("start siwa-dev serve"))
            #expect(!FileManager.default.fileExists(atPath: directory.path(of: "siwa.sqlite")))
        }
    }

    private static func copySiwa(into directory: TemporaryDirectory) throws -> URL {
        let siwa = URL(fileURLWithPath: directory.path(of: "siwa"))
        try FileManager.default.copyItem(at: try BuiltSiwa.url(), to: siwa)
        return siwa
    }
}
