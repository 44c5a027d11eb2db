import AppleEmulator
import Cryptography
import Foundation
import Logging
import SQLiteStorage
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// Files with secrets or personal data, created repeatedly while another thread reads their modes. A file
/// that is readable by others for a few microseconds is found within a few rounds.
@Suite(.serialized, .timeLimit(.hung)) struct PrivateFileTests {
    private static func withDirectories(
        _ count: Int, _ body: (String) async throws -> Void
    ) async throws {
        for _ in 0..<count {
            try await SigningKeySettingsTests.withDirectory([:]) { try await body($0) }
        }
    }

    @Test func `the database and its files are never readable by others`() async throws {
        var seen: Set<String> = []
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/siwa.sqlite"
            let files = ["", "-wal", "-shm", "-journal", ".lock"].map { path + $0 }
            let watch = try await ModeWatch.watching(files) {
                let database = try await SQLiteDatabase.open(path: path, logger: Logger(label: "test"))
                await database.close()
            }
            #expect(watch.open.isEmpty)
            seen.formUnion(watch.seen.map { String($0.dropFirst(path.count)) })
        }
        #expect(seen.isSuperset(of: ["", "-wal", "-shm", ".lock"]))
    }

    @Test func `a new signing key is never readable by others`() async throws {
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/AuthKey_ABC123DEFG.p8"
            let watch = try await ModeWatch.watching([path]) {
                _ = try ClientKeyFile(path: path, keyID: nil).readOrMake(teamID: "TEAM000001")
            }
            #expect(watch.open.isEmpty)
        }
    }

    @Test func `transfer files are never readable by others`() async throws {
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/transfer.jsonl"
            let watch = try await ModeWatch.watching([path]) {
                let object = try #require(try JSONValue(parsing: Array(#"{"sub":"1"}"#.utf8)).object)
                try LineFile.replace(path, with: [object])
                try LineFile.replace(path, with: [object, object])
            }
            #expect(watch.open.isEmpty)
        }
    }

    @Test func `an existing file is not changed`() async throws {
        try await Self.withDirectories(1) { directory in
            let path = "\(directory)/file"
            try PrivateFile.make(at: path, content: Data("one".utf8))
            #expect(throws: CocoaError.self) { try PrivateFile.make(at: path, content: Data("two".utf8)) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one")
            #expect(throws: CocoaError.self) {
                try PrivateFile.make(at: "\(directory)/none/file", content: Data())
            }
        }
    }
}
