import Cryptography
import Foundation
import JOSE
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuthLogin

/// The responses: token responses, errors and ID tokens.
@Suite struct TokenResponseTests {
    private static func read(_ text: String, status: Int = 200) throws -> TokenResponse {
        try TokenResponse(status: status, body: Array(text.utf8))
    }

    @Test func `reads the answer of the standard's example`() throws {
        let response = try Self.read(
            #"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"bearer","expires_in":3600,"refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value"}"#
        )
        #expect(response.lifetime == 3600)
        #expect(response.refreshToken == "tGzv3JOkF0XG5Qx2TlKWIA")
        #expect(response.idToken == nil && response.scope == nil)
    }

    @Test(arguments: [
        "", "[]", "null", "{}", #"{"access_token":"a"}"#, #"{"access_token":"a","token_type":"mac"}"#,
        #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":1,"token_type":"Bearer"}"#,
        #"{"access_token":"a\nb","token_type":"Bearer"}"#,
        #"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#,
        #"{"access_token":"a","token_type":"Bearer","refresh_token":1}"#,
    ])
    func `refuses unusable answers`(text: String) {
        #expect(throws: LoginError(.tokenResponseUnusable, "")) { try Self.read(text) }
    }

    @Test func `refuses a token that is too long`() {
        let token = String(repeating: "a", count: TokenResponse.longestToken + 1)
        #expect(throws: LoginError(.tokenResponseUnusable, "")) {
            try Self.read(#"{"access_token":"\#(token)","token_type":"Bearer"}"#)
        }
    }

    @Test func `names the errors that callers tell apart`() {
        let cases: [(Int, String, LoginError.Code)] = [
            (400, #"{"error":"invalid_grant"}"#, .grantInvalid),
            (400, #"{"error":"invalid_token"}"#, .tokenInvalid),
            (401, #"{"error":"invalid_client"}"#, .serverRefused), (403, "<html>", .serverUnreachable),
            (500, #"{"error":"invalid_grant"}"#, .serverUnreachable), (302, "", .serverUnreachable),
        ]
        for (status, text, code) in cases {
            #expect(throws: LoginError(code, "")) { try Self.read(text, status: status) }
        }
    }

    private static func idToken(_ changes: [String: JSONValue?] = [:]) -> JSONObject {
        var claims = JSONObject([
            ("iss", "https://accounts.google.com"), ("sub", "110169484474386276334"),
            ("aud", "desktop"), ("exp", 2000), ("iat", 1000),
            ("nonce", "n"),
        ])
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private static let check = IDTokenCheck(
        issuer: "https://accounts.google.com", clientID: "desktop", nonce: "n", accessToken: "a")

    @Test func `verifies the RS256 signature of an ID token`() throws {
        let token = try IDToken(parsing: TokenMint.shared.sign(Self.idToken()))
        try Self.check.check(token, at: 1500)
        let jwk = TokenMint.shared.privateKey.publicJWK(keyID: TokenMint.shared.keyID)
        let keySet = JSONValue.object(JSONObject([("keys", .array([.object(jwk)]))])).serialized()
        #expect(try IDTokenSignature.check(token, keySet: keySet) == .verified)
        #expect(throws: LoginError(.idTokenRefused, "")) {
            try IDTokenSignature.check(token, keySet: Array(#"{"keys":[]}"#.utf8))
        }
    }

    @Test func `refuses none, and reports an algorithm that it does not know`() throws {
        let segments = JWSSegments(
            header: Array(#"{"alg":"none"}"#.utf8), payload: JSONValue.object(Self.idToken()).serialized())
        let unsigned = try IDToken(parsing: segments.compact)
        #expect(throws: LoginError(.idTokenRefused, "")) { try IDTokenSignature.check(unsigned, keySet: []) }
        var other = JWSSegments(
            header: Array(#"{"alg":"EdDSA"}"#.utf8), payload: JSONValue.object(Self.idToken()).serialized())
        other.signature = [1]
        #expect(try IDTokenSignature.check(try IDToken(parsing: other.compact), keySet: []) == .unchecked)
    }

    @Test func `several audiences need an authorized party`() throws {
        let both: JSONValue = .array(["desktop", "other"])
        let good = try IDToken(parsing: TokenMint.shared.sign(Self.idToken(["aud": both, "azp": "desktop"])))
        try Self.check.check(good, at: 1500)
    }
}

@Suite struct TokenFileTests {
    private static func tokens(_ refreshToken: String) throws -> KeptTokens {
        let response = try TokenResponse(
            status: 200,
            body: Array(
                #"{"access_token":"a","token_type":"Bearer","expires_in":60,"refresh_token":"\#(refreshToken)"}"#
                    .utf8))
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
            try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
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
        { try TokenFile(environment: environment, issuer: issuer, clientID: client).directory }
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
