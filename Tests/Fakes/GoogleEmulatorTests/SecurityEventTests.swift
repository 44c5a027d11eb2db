import Cryptography
import Encodings
import GoogleEmulator
import Hummingbird
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct SecurityEventTests {
    private static let uri = "https://schemas.openid.net/secevent/oauth/event-type/token-revoked"

    private static func hash(_ token: String) -> String {
        Hexadecimal.encode(SHA512Digest.hash(SHA512Digest.hash(Array(token.utf8)).bytes).bytes)
    }

    private static func event(_ token: String) -> JSONObject {
        JSONObject([
            ("subject_type", .string("oauth_token")), ("token_type", .string("refresh_token")),
            ("token_identifier_alg", .string("hash_SHA512_double")), ("token", .string(hash(token))),
        ])
    }

    /// A token of the scripted server; set a claim to change it, to `nil` to leave it out.
    private static func token(
        _ google: GoogleUnderTest, key: GoogleKey? = nil, algorithm: String = "RS256",
        claims changes: [String: JSONValue?] = [:]
    ) throws -> String {
        let key = key ?? google.server.key
        var claims = JSONObject([
            ("iss", .string(google.server.issuer)), ("aud", .string("google_account_linking")),
            ("iat", .integer(GoogleUnderTest.now)), ("jti", .string("event-1")),
            ("events", .object(JSONObject([(uri, .object(event("refresh-token-number-1")))]))),
        ])
        for (name, value) in changes { claims[name] = value }
        let header = JSONObject([
            ("alg", .string(algorithm)), ("kid", .string(google.server.key.keyID)),
            ("typ", .string("secevent+jwt")),
        ])
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        segments.signature = try key.privateKey.signature(for: segments.signingInput)
        return segments.compact
    }

    private static func report(_ google: GoogleUnderTest, _ token: String) async throws
        -> GoogleUnderTest.Response
    {
        try await google.send(
            .POST, "/v1beta/events:report", headers: ["Content-Type": "application/secevent+jwt"], body: token
        )
    }

    @Test func `a report of a known refresh token ends its link, and a repeated one changes nothing`()
        async throws
    {
        try await GoogleUnderTest.run { google in
            try await google.link()
            for _ in 0..<2 { #expect(try await Self.report(google, Self.token(google)).status == 202) }
            #expect(google.service.state.links.last?.status == .unlinkedByService)
            let event = try #require(google.service.state.receivedEvents.first)
            #expect(google.service.state.receivedEvents.count == 1)
            #expect(event.deliveries == 2)
            #expect(event.linkID == "1")
        }
    }

    @Test(
        arguments: [
            (["iss": .string("https://evil.example")], "invalid_issuer"),
            (["aud": .string("other")], "invalid_audience"),
            (["exp": .integer(2_000_000_000)], "invalid_request"),
            (["jti": nil], "invalid_request"), (["iat": nil], "invalid_request"),
            (["events": .object(JSONObject())], "invalid_request"),
        ] as [([String: JSONValue?], String)])
    func `refuses wrong claims`(changes: [String: JSONValue?], error: String) async throws {
        try await GoogleUnderTest.run { google in
            let response = try await Self.report(google, Self.token(google, claims: changes))
            #expect(response.status == 400)
            #expect(response.json?["err"]?.string == error)
            #expect(google.service.state.receivedEvents.isEmpty)
        }
    }

    @Test func `refuses another key, another algorithm, no token and another type`() async throws {
        try await GoogleUnderTest.run { google in
            let other = try Self.token(google, key: GoogleKey.generate())
            let wrongKey = try await Self.report(google, other)
            #expect(wrongKey.json?["err"]?.string == "authentication_failed")
            for token in [try Self.token(google, algorithm: "none"), "", "a.b.c"] {
                let response = try await Self.report(google, token)
                #expect(response.json?["err"]?.string == "invalid_request")
            }
            let asForm = try await google.send(
                .POST, "/v1beta/events:report", body: try Self.token(google))
            #expect(asForm.status == 400)
        }
    }

    @Test func `a fault answers for so many reports, and then they count`() async throws {
        try await GoogleUnderTest.run { google in
            let set = try await google.control("faults/report", #"{"status":503,"times":2}"#, method: .PUT)
            #expect(set.status == 200)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await Self.report(google, Self.token(google)).status) }
            #expect(statuses == [503, 503, 202])
            #expect(google.service.state.receivedEvents.first?.deliveries == 1)
        }
    }

    @Test(arguments: [
        ("sessions-revoked", "risc"), ("tokens-revoked", "oauth"), ("account-disabled", "risc"),
        ("account-enabled", "risc"), ("account-credential-change-required", "risc"), ("verification", "risc"),
        ("token-revoked", "oauth"),
    ])
    func `sends its own events, signed with its own key`(type: String, family: String) async throws {
        try await GoogleUnderTest.run { google in
            try await google.link()
            let response = try await google.control(
                "send-event", #"{"type":"\#(type)","sub":"42","reason":"hijacking","state":"s","jti":"j"}"#)
            #expect(response.json?["status"]?.integer == 202)
            let request = try #require(google.server.received("/v1/google/security-events").first)
            #expect(request.headers[.contentType] == "application/secevent+jwt")
            let segments = try #require(JWSSegments(compact: request.body))
            let claims = try JSONValue(parsing: segments.payload)
            #expect(claims["iss"]?.string == "https://accounts.google.com/")
            #expect(claims["aud"]?.string == "123-fake.apps.googleusercontent.com")
            #expect(claims["jti"]?.string == "j")
            #expect(claims["exp"] == nil)
            let uri = "https://schemas.openid.net/secevent/\(family)/event-type/\(type)"
            let event = try #require(claims["events"]?[uri])
            switch type {
            case "verification": #expect(event["state"]?.string == "s")
            case "token-revoked":
                #expect(event["subject"]?["token"]?.string == Self.hash("refresh-token-number-1"))
            default: #expect(event["subject"]?["sub"]?.string == "42")
            }
            let keys = try await google.get("/oauth2/v3/certs")
            let set = try JSONWebKeySet(parsing: Array(keys.text.utf8))
            let header = try JSONValue(parsing: segments.header)
            let key = try #require(set.key(for: header["kid"]?.string ?? ""))
            #expect(key.isValidSignature(segments.signature, for: segments.signingInput[...]))
        }
    }

    @Test func `its configuration for events names its keys`() async throws {
        try await GoogleUnderTest.run { google in
            let json = try await google.get("/.well-known/risc-configuration").json
            #expect(json?["issuer"]?.string == "https://accounts.google.com/")
            #expect(json?["jwks_uri"]?.string == "http://127.0.0.1:\(google.port)/oauth2/v3/certs")
            let rotated = try await google.control("keys/rotate")
            #expect(rotated.json?["kid"]?.string != nil)
            let keys = try await google.get("/oauth2/v3/certs").json?["keys"]?.array
            #expect(keys?.count == 2)
        }
    }
}
