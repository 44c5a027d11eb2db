import Foundation
import StrictJSON
import Testing

@testable import siwa

@Suite struct LineFileTests {
    static func with(_ body: (String) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { try await body("\($0)/lines") }
    }

    static func line(_ number: Int64) -> JSONObject { JSONObject([("n", .integer(number))]) }

    @Test func `keeps what was added, and only its owner may read it`() async throws {
        try await Self.with { path in
            try LineFile(appendingTo: path).append([Self.line(1), Self.line(2)])
            try LineFile(appendingTo: path).append([Self.line(3)])
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(2), Self.line(3)])
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: [#"{"n":2"#, "{", "x"])
    func `a line that a crash has left half written is no line, and is cut off`(rest: String) async throws {
        try await Self.with { path in
            try Data("{\"n\":1}\n\(rest)".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.read(path) == [Self.line(1)])
            try LineFile(appendingTo: path).append([Self.line(3)])
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(3)])
        }
    }

    @Test(arguments: [
        "{\"n\":1}\r\n{\"n\":2}\r\n", "{\"n\":1}\n{\"n\":2}\n\n", "\n{\"n\":1}\n \t\r\n{\"n\":2}\n\r\n",
    ])
    func `ends of lines as on Windows, and blank lines, are no matter`(content: String) async throws {
        try await Self.with { path in
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(2)])
        }
    }

    @Test func `lines are counted as an editor counts them`() async throws {
        try await Self.with { path in
            try Data("\n{\"n\":1}\r\n\r\n{\"n\":2}".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.numberedLines(of: path).map(\.number) == [2])
            #expect(try LineFile.numberedLines(of: path, isEnded: true).map(\.number) == [2, 4])
        }
    }

    @Test func `a file of something else is not touched`() async throws {
        try await Self.with { path in
            try Data("hello\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: LineFile.Unusable.self) { try LineFile.read(path) }
        }
    }

    @Test func `a replaced file is gone when there is nothing to put in it`() async throws {
        try await Self.with { path in
            try LineFile.replace(path, with: [Self.line(1)])
            #expect(try LineFile.read(path) == [Self.line(1)])
            try LineFile.replace(path, with: [])
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
