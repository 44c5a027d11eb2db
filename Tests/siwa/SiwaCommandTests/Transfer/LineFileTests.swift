import Foundation
import StrictJSON
import Testing

@testable import siwa

@Suite struct LineFileTests {
    static func with(_ body: (String) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { try await body("\($0)/lines") }
    }

    static func line(_ number: Int64) -> JSONObject { JSONObject([("n", .integer(number))]) }

    @Test func `stores appended lines, and only its owner can read them`() async throws {
        try await Self.with { path in
            try LineFile(appendingTo: path).append([Self.line(1), Self.line(2)])
            try LineFile(appendingTo: path).append([Self.line(3)])
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(2), Self.line(3)])
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: [#"{"n":2"#, "{", "x"])
    func `an incomplete line after a crash is ignored and removed`(rest: String) async throws {
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
    func `Windows line ends and blank lines are accepted`(content: String) async throws {
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

    @Test func `a file with other content is not changed`() async throws {
        try await Self.with { path in
            try Data("hello\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: LineFile.Unusable.self) { try LineFile.read(path) }
        }
    }

    @Test func `a file that is replaced with no lines is removed`() async throws {
        try await Self.with { path in
            try LineFile.replace(path, with: [Self.line(1)])
            #expect(try LineFile.read(path) == [Self.line(1)])
            try LineFile.replace(path, with: [])
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
