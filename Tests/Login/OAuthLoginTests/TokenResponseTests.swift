import JOSE
import StrictJSON
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
            ("iss", .string("https://accounts.google.com")), ("sub", .string("110169484474386276334")),
            ("aud", .string("desktop")), ("exp", .integer(2000)), ("iat", .integer(1000)),
            ("nonce", .string("n")),
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
        let both: JSONValue = .array([.string("desktop"), .string("other")])
        let good = try IDToken(
            parsing: TokenMint.shared.sign(Self.idToken(["aud": both, "azp": .string("desktop")])))
        try Self.check.check(good, at: 1500)
    }
}
