import Foundation
import TestSupport
import Testing

@testable import siwa

@Suite(.timeLimit(.hung)) struct MissingDatabaseTests {
    static let environment = [
        "DATABASE_URL": "sqlite://siwa.sqlite", "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)",
        // No server listens there.
        "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:9",
    ].merging(SettingsReaderTests.minimal) { $1 }

    @Test(arguments: [
        ["reseal"], ["reseal", "--dry-run"], ["transfer", "apply", "in"],
        ["transfer", "apply", "in", "--dry-run"],
        ["transfer", "prepare", "out", "--to", RunningApple.otherTeam],
        ["transfer", "prepare", "out", "--to", RunningApple.otherTeam, "--dry-run"],
    ])
    func `a command reports a missing database and does not create one`(arguments: [String]) async throws {
        for files in [["in": ""], ["in": "", "siwa.sqlite": ""]] {
            try await SigningKeySettingsTests.withDirectory(files) { directory in
                let command = try await CommandProcess.run(arguments, Self.environment, in: directory)
                #expect(command.status == 1)
                let path = "\(URL(fileURLWithPath: directory).resolvingSymlinksInPath().path)/siwa.sqlite"
                #expect(command.errorText.contains("There is no database at \(path)."))
                #expect(command.errorText.split(separator: "\n").count == 1)
                let left = try FileManager.default.contentsOfDirectory(atPath: directory)
                #expect(Set(left) == Set(files.keys))
                for name in left {
                    #expect(FileManager.default.contents(atPath: "\(directory)/\(name)") == Data())
                }
            }
        }
    }

    @Test func `a database that this user may not read is not called missing`() {
        let error = MissingDatabase(location: .sqlite(path: "/var/lib/siwa/siwa.sqlite"), isForbidden: true)
        #expect(error.description.hasPrefix("This user may not read /var/lib/siwa/siwa.sqlite."))
    }

    @Test func `a shell without the service's variables gets the line that has them`() throws {
        let advice = try #require(
            ServiceVariables.advice(
                ["transfer", "apply", "a b"], environment: ["PATH": "x"], isInstalled: true))
        #expect(advice.contains("systemd alone reads /etc/siwa/siwa.env"))
        #expect(
            advice.hasSuffix("--working-directory=/var/lib/siwa /usr/local/bin/siwa transfer apply 'a b'"))
        #expect(ServiceVariables.advice([], environment: ["DATABASE_URL": ""], isInstalled: true) == nil)
        #expect(ServiceVariables.advice([], environment: [:], isInstalled: false) == nil)
    }

    @Test func `a second sealing key of one name is refused with the option that gives another`() async throws
    {
        let keys = ["SIWA_SEALING_KEYS": "b=\(SealingSettingsTests.second), a=\(SealingSettingsTests.first)"]
        let command = try await CommandProcess.run(["sealing-key", "--name", "a"], keys, in: "/tmp")
        #expect(command.status == 64 && command.errorText.contains("--name"))
        let other = try await CommandProcess.run(["sealing-key", "--name", "c"], keys, in: "/tmp")
        #expect(other.status == 0)
    }

    @Test func `an existing database is resealed`() async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory) { _ in }
            let command = try await CommandProcess.run(["reseal"], Self.environment, in: directory)
            #expect(command.status == 0)
        }
    }

    @Test func `a directory is not a database, but a link to one is`() async throws {
        try await SigningKeySettingsTests.withDirectory(["file": "x"]) { directory in
            await #expect(throws: MissingDatabase.self) {
                try await DatabaseLocation.sqlite(path: directory).checkPresence()
            }
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/link", withDestinationPath: "\(directory)/file")
            try await DatabaseLocation.sqlite(path: "\(directory)/link").checkPresence()
        }
    }
}
