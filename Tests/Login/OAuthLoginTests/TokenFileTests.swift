import Cryptography
import Foundation
import TestSupport
import Testing

@testable import OAuthLogin

@Suite struct TokenFileTests {
    private static func tokens(_ refreshToken: String) throws -> KeptTokens {
        let response = try TokenResponse(
            status: 200,
            body: Array(
                #"{"access_token":"a","token_type":"Bearer","expires_in":60,"refresh_token":"\#(refreshToken)"}"#
                    .utf8
            ))
        return KeptTokens(
            response, issuer: "https://a.example", clientID: "c", requestedScope: nil, subject: "s", at: 1000)
    }

    private static func with(_ body: (TokenFile) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            let file = TokenFile(directory: directory.path(of: "siwa/login/a"))
            try await file.locked { () async throws(LoginError) in }
            try await body(file)
        }
    }

    @Test func `reads what it has written`() async throws {
        try await Self.with { file in
            #expect(try file.read() == nil)
            for name in ["r1", "r2"] {
                let tokens = try Self.tokens(name)
                try file.write(tokens)
                #expect(try file.read() == tokens)
            }
            try file.remove()
            #expect(try file.read() == nil)
        }
    }

    @Test func `a leftover of an interrupted write is replaced, also a link`() async throws {
        try await Self.with { file in
            let victim = "\(file.directory)/victim"
            try Data("victim".utf8).write(to: URL(fileURLWithPath: victim))
            try FileManager.default.createSymbolicLink(
                atPath: "\(file.path).new", withDestinationPath: victim)
            try file.write(try Self.tokens("r"))
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")
        }
    }

    @Test(arguments: [0o644, 0o640, 0o606]) func `refuses a file that others can read or write`(mode: Int)
        async throws
    {
        try await Self.with { file in
            try file.write(try Self.tokens("r"))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            #expect(throws: LoginError(.fileUnusable, "")) { try file.read() }
        }
    }

    @Test func `refuses a link, a directory, a damaged and a huge file`() async throws {
        try await Self.with { file in
            let other = "\(file.directory)/other"
            try PrivateFile.make(at: other, content: Data(try Self.tokens("r").json))
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: other)
            #expect(throws: LoginError(.fileUnusable, "")) { try file.read() }
            try FileManager.default.removeItem(atPath: file.path)
            try FileManager.default.createDirectory(
                atPath: file.path, withIntermediateDirectories: false)
            #expect(throws: LoginError(.fileUnusable, "")) { try file.read() }
            try FileManager.default.removeItem(atPath: file.path)
            for content in ["{", "{}", String(repeating: " ", count: 70_000) + "{}"] {
                try PrivateFile.make(at: file.path, content: Data(content.utf8))
                #expect(throws: LoginError(.fileUnusable, "")) { try file.read() }
                try file.remove()
                try await file.locked { () async throws(LoginError) in }
            }
        }
    }

    @Test func `one file per issuer and client, below the state directory`() throws {
        let issuer = try IssuerURL("http://127.0.0.1:8080")
        func directory(_ environment: [String: String], _ issuer: IssuerURL, _ client: String) throws
            -> String
        {
            try TokenFile(environment: environment, issuer: issuer, clientID: client).directory
        }
        let home = ["HOME": "/home/ada"]
        let one = try directory(home, issuer, "a")
        #expect(one.hasPrefix("/home/ada/.local/state/siwa/login/127.0.0.1_8080-"))
        #expect(try directory(home, issuer, "b") != one)
        #expect(try directory(home, try IssuerURL("http://127.0.0.1:8080/"), "a") != one)
        #expect(try directory(["XDG_STATE_HOME": "/s"], issuer, "a").hasPrefix("/s/siwa/login/"))
        // The standard says that a relative path is ignored.
        #expect(
            try directory(["XDG_STATE_HOME": "s", "HOME": "/h"], issuer, "a").hasPrefix("/h/.local/state/"))
        #expect(throws: LoginError(.fileUnusable, "")) { try directory([:], issuer, "a") }
    }

    @Test func `tokens do not show themselves`() throws {
        let tokens = try Self.tokens("hidden-token")
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!"\(tokens) \(String(reflecting: tokens)) \(dumped)".contains("hidden-token"))
    }
}
