import AppleAccounts
import Foundation
import HTTPAPI
import NIOCore
import NIOPosix
import PostgresCluster
import PostgresStorage
import SQLiteStorage
import TestSupport
import Testing

@testable import Composition

/// Checks that mistakes for the operator end with status 78 and a plain message.
@Suite(.timeLimit(.hung)) struct OperatorMistakeTests {
    private static func serve(
        _ changes: [String: String], in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let environment = SettingsReaderTests.minimal.merging([
            "SIWA_PORT": "0", "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:9",
        ]) { $1 }.merging(changes) { $1 }
        let command = try await CommandProcess.run(["serve"], environment, in: directory.path)
        #expect(!command.output.contains("\\u{"), "\(command.output)")
        #expect(!command.output.contains("errno"), "\(command.output)")
        return command
    }

    @Test(arguments: [
        ("missing/siwa.sqlite", "the folder ", "/missing of DATABASE_URL does not exist; create it"),
        ("folder", "/folder of DATABASE_URL is a folder", "name a file in it"),
        ("text/siwa.sqlite", "/text of DATABASE_URL is a file", "a folder is expected"),
        ("text", "the file ", "/text is no SQLite database; correct DATABASE_URL"),
    ])
    func `a place that is no database is named`(name: String, words: String, more: String) async throws {
        try await TemporaryDirectory.with { directory in
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "folder"), withIntermediateDirectories: false)
            let text = Data(String(repeating: "This is a text file.\n", count: 1000).utf8)
            try text.write(to: URL(fileURLWithPath: directory.path(of: "text")))
            let command = try await Self.serve(
                ["DATABASE_URL": "sqlite://\(directory.path(of: name))"], in: directory)
            #expect(command.status == 78, "\(command.output)")
            #expect(command.output.contains(words) && command.output.contains(more), "\(command.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path(of: "text"))) == text)
        }
    }

    @Test func `a second process on one file is named`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "siwa.sqlite")
            let first = try await SQLiteDatabase.open(path: path, logger: .silent)
            let command = try await Self.serve(["DATABASE_URL": "sqlite://\(path)"], in: directory)
            await first.close()
            #expect(command.status == 78, "\(command.output)")
            #expect(command.output.contains("another process has the database \(path) open; stop it first"))
        }
    }

    @Test func `a server that cannot be used is a mistake, and one that is away is none`() throws {
        let server = DatabaseLocation.postgres(try PostgresAddress("postgres://siwa:secret@db.invalid/siwa"))
        let mistake = OperatorMistake(
            StorageError(.migrationFailed, detail: "expected PostgreSQL, found CockroachDB"), database: server
        )
        #expect(
            mistake?.description
                == "siwa at db.invalid cannot be used: expected PostgreSQL, found CockroachDB")
        #expect(OperatorMistake(StorageError(.busy, detail: ""), database: server) == nil)
    }

    @Test func `a database that does not exist yet is named, and the service may be started again`()
        async throws
    {
        let cluster = try await PostgresCluster.shared()
        try await TemporaryDirectory.with { directory in
            let command = try await Self.serve(
                ["DATABASE_URL": cluster.url(of: "not_made_yet")], in: directory)
            #expect(command.status == 1, "\(command.output)")
            #expect(command.output.contains("not_made_yet"))
            #expect(command.output.contains("does not exist; create the database, or correct DATABASE_URL"))
        }
    }

    @Test func `an unknown name to listen on is named`() async throws {
        try await TemporaryDirectory.with { directory in
            let command = try await Self.serve(["SIWA_HOST": "no-such-host.invalid"], in: directory)
            #expect(command.status == 78, "\(command.output)")
            #expect(command.output.contains("the host name no-such-host.invalid is not known"))
        }
    }

    @Test(arguments: ["\"", "'"])
    func `quotes around a value are named, and nothing that follows from them`(quote: String) async throws {
        let words = try await MistakeWordsTests.mistakes([
            "DATABASE_URL": "\(quote)sqlite:///tmp/siwa.sqlite\(quote)", "SIWA_PORT": "\(quote)8080\(quote)",
        ])
        #expect(words.hasPrefix("The configuration has 2 mistakes:"), "\(words)")
        for name in ["DATABASE_URL", "SIWA_PORT"] {
            #expect(words.contains("\(name): has quotes around its value, which belong to the value here"))
        }
    }

    @Test func `a key in place of its hash is recognized, and not repeated`() async throws {
        let key = APIKeySecret.make()
        let words = try await MistakeWordsTests.mistakes(["SIWA_API_KEY_HASHES": "backend=\(key)"])
        #expect(words.contains("the hash of backend is an API key itself"), "\(words)")
        #expect(words.contains("siwa api-key --name backend"))
        #expect(!words.contains(key))
    }

    @Test(arguments: [
        ("plain é 漢 text\nof two lines", "plain é 漢 text\nof two lines"),
        ("\u{1B}[31mred\u{7}", "?[31mred?"), ("a\tb\r\nc", "a b?\nc"), ("\u{202E}gnp.exe", "?gnp.exe"),
        ("\u{9B}31m", "?31m"),
    ])
    func `a message cannot command the terminal`(text: String, shown: String) {
        #expect(ErrorMessage.withoutControls(text) == shown)
    }
}

/// A message names the file, the line and what to do.
@Suite(.timeLimit(.hung)) struct MistakeWordsTests {
    static func mistakes(_ changes: [String: String], file: String? = nil) async throws -> String {
        do {
            _ = try await SettingsReaderTests.read(with: changes, file: file)
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
                #expect(command.output.contains("stop the service, run siwa reseal again"))
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
            #expect(command.output.contains("--team-id must be 10 capital letters and digits"))
        }
    }
}

@Suite(.timeLimit(.hung)) struct ListenTrialTests {
    @Test func `a client that connects during the trial is refused, and does not wait for an answer`()
        async throws
    {
        let port = try FreePort.find()
        let trials = Task { while !Task.isCancelled { try await ListenTrial.run(on: [("127.0.0.1", port)]) } }
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        var early: [any Channel] = []
        while early.count < 200 {
            guard let channel = try? await client.connect(host: "127.0.0.1", port: port).get() else {
                continue
            }
            // A client that says nothing may not learn that the socket is closed.
            channel.writeAndFlush(ByteBuffer(string: "GET /livez HTTP/1.1\r\n"), promise: nil)
            early.append(channel)
        }
        trials.cancel()
        try await trials.value
        try await eventually { [early] in early.allSatisfy { !$0.isActive } }
    }
}
