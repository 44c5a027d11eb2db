import AppleAccounts
import Foundation
import SiwaBinary
import TestSupport
import Testing

@testable import siwa

/// Commands that need the database need no other part of the configuration.
@Suite(.timeLimit(.hung)) struct DatabaseCommandTests {
    private static let commands = [
        ["audit", "verify"], ["audit", "tail"], ["audit", "export"],
        ["deliveries", "resume", "backend"],
        ["deliveries", "replay", "backend", "--since", "2026-01-01T00:00:00Z"],
    ]

    /// Runs a command in a directory with a database and these files.
    private static func run(
        _ arguments: [String], _ environment: [String: String], files: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            try await StoredAccounts.with(directory) { store in
                _ = try await store.noteConfiguration(["setting SIWA_PORT": "ab"], at: StoredAccounts.now)
                try await store.addReceivers([#require(ReceiverName("backend"))], at: StoredAccounts.now)
            }
            let run = try await ProgramRun.of(
                BuiltSiwa.url(), arguments, environment: environment, in: directory, keepsOutput: true)
            return (run.status, run.output)
        }
    }

    @Test(arguments: commands)
    func `the location of the database is enough`(arguments: [String]) async throws {
        let run = try await Self.run(arguments, ["DATABASE_URL": "sqlite://siwa.sqlite"])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test(arguments: [
        "database_url: sqlite://siwa.sqlite\n",
        // Mistakes that are not about the database.
        "database_url: sqlite://siwa.sqlite\nteams:\n  - team_id: no\nsiwa_prt: 1\n",
    ])
    func `the file with the location is enough`(file: String) async throws {
        let run = try await Self.run(
            ["audit", "verify"], ["SIWA_CONFIG": "siwa.yaml", "SIWA_PORT": "no port"],
            files: ["siwa.yaml": file])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("as it was written: rows 1 to"))
    }

    @Test func `a file is not read where the environment has the location`() async throws {
        // Nor is an unknown name a mistake, which is nearest to one of the two.
        let run = try await Self.run(
            ["audit", "verify"],
            ["DATABASE_URL": "sqlite://siwa.sqlite", "SIWA_CONFIG": "missing.yaml", "SIWA_LOCKED": "1"])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test(arguments: [
        (["DATABASE_URL": "mysql://localhost/siwa"], "DATABASE_URL: must be sqlite:"),
        (["DATABASE_URL": "'sqlite://siwa.sqlite'"], "DATABASE_URL: has quotes"),
        (["SIWA_CONFIG": "missing.yaml"], "SIWA_CONFIG: "),
        (["SIWA_CONFIG": "wrong.yaml"], "did you mean database_url?"),
        (["SIWA_CONFG": "siwa.yaml"], "SIWA_CONFG: is not known; did you mean SIWA_CONFIG?"),
        (["SIWA_DATABASE_URL": "sqlite://x"], "SIWA_DATABASE_URL: is not known; did you mean DATABASE_URL?"),
    ])
    func `a location that is wrong is named, with the status of a wrong configuration`(
        environment: [String: String], words: String
    ) async throws {
        for arguments in Self.commands {
            let run = try await Self.run(
                arguments, environment, files: ["wrong.yaml": "databas_url: sqlite://siwa.sqlite\n"])
            #expect(run.status == 78, "\(run.output)")
            #expect(run.output.contains(words), "\(run.output)")
            // Nothing else is asked for.
            #expect(!run.output.contains("API_KEY") && !run.output.contains("APPLE_"))
        }
    }

    @Test func `without a location the usual file is looked for, and a missing one is named`() async throws {
        let run = try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await ProgramRun.of(
                BuiltSiwa.url(), ["audit", "verify"], environment: [:], in: directory, keepsOutput: true)
        }
        #expect(run.status == 1)
        #expect(run.output.contains("There is no database at ") && run.output.contains("siwa.sqlite"))
    }
}
