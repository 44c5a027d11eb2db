import AppleAccounts
import Encodings
import Foundation
import HTTPAPI
import PostgresCluster
import PostgresStorage
import SQLiteStorage
import TestSupport
import Testing

@testable import siwa

/// Checks that mistakes for the operator end with status 78 and a plain message.
@Suite(.timeLimit(.hung)) struct OperatorMistakeTests {
    private static func serve(
        _ changes: [String: String], in directory: TemporaryDirectory
    ) async throws -> CommandProcess {
        let environment = SettingsReaderTests.minimal.merging([
            "SIWA_PORT": "0", "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:9",
        ]) { $1 }.merging(changes) { $1 }
        let command = try await CommandProcess.run(["serve"], environment, in: directory.path)
        #expect(!command.errorText.contains("\\u{"), "\(command.errorText)")
        #expect(!command.errorText.contains("errno"), "\(command.errorText)")
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
            #expect(command.status == 78, "\(command.errorText)")
            #expect(
                command.errorText.contains(words) && command.errorText.contains(more), "\(command.errorText)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path(of: "text"))) == text)
        }
    }

    @Test func `a second process on one file is named`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "siwa.sqlite")
            let first = try await SQLiteDatabase.open(path: path, logger: .silent)
            let command = try await Self.serve(["DATABASE_URL": "sqlite://\(path)"], in: directory)
            await first.close()
            #expect(command.status == 78, "\(command.errorText)")
            #expect(
                command.errorText.contains("another process has the database \(path) open; stop it first"))
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
            #expect(command.status == 1, "\(command.errorText)")
            #expect(command.errorText.contains("not_made_yet"))
            #expect(
                command.errorText.contains("does not exist; create the database, or correct DATABASE_URL"))
        }
    }

    @Test func `an unknown name to listen on is named`() async throws {
        try await TemporaryDirectory.with { directory in
            let command = try await Self.serve(["SIWA_HOST": "no-such-host.invalid"], in: directory)
            #expect(command.status == 78, "\(command.errorText)")
            #expect(command.errorText.contains("the host name no-such-host.invalid is not known"))
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
