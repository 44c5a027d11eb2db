import Foundation
import TestSupport
import Testing

@testable import siwa

/// A message names the file, the line and what to do.
@Suite(.timeLimit(.hung)) struct MistakeWordsTests {
    static func mistakes(_ changes: [String: String], file: String? = nil) async throws -> String {
        do {
            _ = try await SettingsReaderTests.read(
                SettingsReaderTests.minimal.merging(changes) { $1 }, file: file)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `a missing key directory, a missing configuration and broken YAML are three messages`()
        async throws
    {
        let directory = try await Self.mistakes(["APPLE_PRIVATE_KEY_FILE": "/nonexistent/keys"])
        #expect(
            directory.contains(
                "APPLE_PRIVATE_KEY_FILE: /nonexistent/keys: there is no such file or directory"))
        let missing = try await Self.mistakes(["SIWA_CONFIG": "/nonexistent/siwa.yaml"])
        #expect(missing.contains("SIWA_CONFIG: /nonexistent/siwa.yaml: there is no such file"))
        let place = try await Self.mistakes(["SIWA_CONFIG": "/tmp"])
        #expect(place.contains("SIWA_CONFIG: /tmp: is a directory"))
        let yaml = try await Self.mistakes([:], file: "siwa_port: 1\nteams: [s3cr3t\nsiwa_host: x\n")
        #expect(yaml.contains("SIWA_CONFIG: "))
        #expect(yaml.contains(": line 3, column "))
        #expect(yaml.contains("is not YAML"))
        #expect(!yaml.contains("s3cr3t"))
        let twice = try await Self.mistakes([:], file: "siwa_host: x\nsiwa_port: 1\nsiwa_port: 2\n")
        #expect(twice.contains("has a name twice"))
    }

    @Test(arguments: [
        ("siwa_host: x\nsiwa_prot: 1\n", "line 2: siwa_prot: is not known; did you mean siwa_port?"),
        ("teams:\n  - team_id: A\n    key: x\n", "line 3: teams.key: is not known"),
        ("siwa_host: x\nteams: 7\n", "line 2: teams: must be a list"),
        ("- a\n", "line 1: the file: must be a mapping"),
    ])
    func `a mistake in the file is reported with its line`(file: String, words: String) async throws {
        let found = try await Self.mistakes([:], file: file)
        #expect(found.contains(words), "\(found)")
    }

    @Test func `a wrong key file in a directory is named`() async throws {
        let files = [
            "AuthKey_A1B2C3D4E5.p8": SettingsReaderTests.privateKey, "AuthKey_K1L2M3N4O5.p8": "no key",
        ]
        try await SigningKeySettingsTests.withDirectory(files) { path in
            let words = try await Self.mistakes(["APPLE_PRIVATE_KEY_FILE": path])
            #expect(words.contains("\(path)/AuthKey_K1L2M3N4O5.p8: must be a private key in PEM"))
        }
    }

    @Test(arguments: ["MIGHAgEAMBMGByqGSM49AgEG/yCqGSM49", "-----BEGIN PRIVATE KEY-----\nMIGH", "s3cr3t"])
    func `a key in place of its file name is not repeated`(text: String) async throws {
        let words = try await Self.mistakes(["APPLE_PRIVATE_KEY_FILE": text])
        #expect(words.contains("APPLE_PRIVATE_KEY_FILE: there is no such file or directory"))
        #expect(!words.contains(text))
    }

    @Test func `reseal during a running service says what to do`() async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory) { _ in
                let command = try await CommandProcess.run(
                    ["reseal"], MissingDatabaseTests.environment, in: directory)
                #expect(command.status == 1)
                #expect(command.errorText.contains("stop the service, run siwa reseal again"))
            }
        }
    }

    @Test func `a lock file of another user is found by the doctor`() async throws {
        // Only root can change the owner of a file.
        guard geteuid() == 0 else { return }
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory) { _ in }
            let path = "\(directory)/siwa.sqlite"
            let location = DatabaseLocation.sqlite(path: path)
            #expect(DatabaseFiles(location)?.finding == nil)
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65534, .groupOwnerAccountID: 65534], ofItemAtPath: path)
            let finding = try #require(DatabaseFiles(location)?.finding)
            #expect(finding.verdict == .wrong)
            #expect(finding.text.contains("\(path).lock belongs to another user"))
            #expect(finding.advice?.contains("chown --reference=\(path) \(path).lock") == true)
        }
    }

    @Test(arguments: ["bad", "a1b2c3d4e5", "A1B2C3D4E56", ""])
    func `the fake Apple refuses a team ID that Apple would not give`(teamID: String) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let command = try await CommandProcess.run(
                ["emulate", "--port", "0", "--team-id", teamID], [:], in: directory)
            #expect(command.status == 64)
            #expect(command.errorText.contains("--team-id must be 10 capital letters and digits"))
        }
    }
}
