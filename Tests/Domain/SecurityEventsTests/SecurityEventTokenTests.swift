import AppleAccounts
import Encodings
import JOSE
import SecurityEvents
import StrictJSON
import Testing

@Suite struct SecurityEventTokenTests {
    private static let issuer = "https://signin.example.com"
    private static let now: Int64 = 1_763_692_300

    private let key: TokenSigningKey
    private let verifier = SecurityEventVerifier(issuer: Self.issuer, audiences: ["billing", "mail"])

    init() throws {
        key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
    }

    private func token(_ event: AccountEvent, audience: String = "billing") throws -> String {
        try SecurityEventToken(
            issuer: Self.issuer, audience: audience, subject: try #require(SecurityEventSubject(of: event)),
            event: event, issuedAt: Self.now
        ).signed(with: key)
    }

    private func claims(_ token: String) throws -> JSONObject {
        let segments = try #require(JWSSegments(compact: token))
        return try #require(try JSONValue(parsing: segments.payload).object)
    }

    /// Signs any claims.
    private func forged(
        type: StaticString = SecurityEventToken.type, with key: TokenSigningKey? = nil,
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var claims = try claims(try token(.sample()))
        change(&claims)
        return try TypedJWS.sign(JSONValue.object(claims).serialized(), type: type, with: key ?? self.key)
    }

    private func verify(_ token: String, at now: Int64 = Self.now) throws -> SecurityEventClaims {
        try verifier.verify(token, at: now) { $0 == key.keyID ? key.verificationKey : nil }
    }

    @Test(arguments: AccountEvent.Kind.allCases)
    func `a token of every event passes its own verifier`(kind: AccountEvent.Kind) throws {
        let event = try AccountEvent.sample(kind)
        let verified = try verify(try token(event))
        #expect(verified.id == event.id.rawValue)
        #expect(verified.issuedAt == Self.now)
        #expect(verified.events.members.map(\.name) == [kind.securityEventType.uri])
        let content = try #require(verified.events.members.first?.value)
        #expect(content["event_timestamp"]?.integer == event.moment.milliseconds / 1000)
        #expect(content["siwa_event"]?["type"]?.string == kind.rawValue)
    }

    @Test func `a revoked credential is a credential-change with the names of CAEP`() throws {
        let events = try verify(try token(.sample())).events
        let content = events["https://schemas.openid.net/secevent/caep/event-type/credential-change"]
        #expect(content?["change_type"]?.string == "revoke")
        #expect(content?["credential_type"]?.string == "sign-in-with-apple")
    }

    @Test func `the subject is the account, or Apple's user without an account`() throws {
        let account = try claims(try token(.sample()))["sub_id"]
        #expect(account?["format"]?.string == "opaque")
        #expect(account?["id"]?.string == (try AccountEvent.sample().accountID?.rawValue))
        let user = try claims(try token(.sample(hasAccount: false)))["sub_id"]
        #expect(user?["format"]?.string == "iss_sub")
        #expect(user?["iss"]?.string == "https://appleid.apple.com")
        #expect(user?["sub"]?.string == "000317.d4f5.1444")
    }

    @Test func `an event of an erased user without an account has no subject`() throws {
        #expect(SecurityEventSubject(of: try .sample(subject: nil, hasAccount: false)) == nil)
        // The account's ID stays, and names no user of Apple.
        let erased = try token(.sample(.accountErased, subject: nil))
        let payload = try #require(JWSSegments(compact: erased)).payload
        #expect(!String(decoding: payload, as: UTF8.self).contains("\"sub\""))
    }

    @Test func `every attempt of an event has the same jti`() throws {
        #expect(try claims(try token(.sample()))["jti"] == claims(try token(.sample()))["jti"])
    }

    @Test(arguments: [["billing"], ["other", "mail"]])
    func `a token may be for several audiences`(audiences: [String]) throws {
        let token = try forged { $0["aud"] = .array(audiences.map { .string($0) }) }
        #expect(throws: Never.self) { try verify(token) }
    }

    @Test(
        arguments: [
            ("iss", JSONValue.string("https://signin.example.com/"), SecurityEventError.Code.invalidIssuer),
            ("iss", nil, .invalidIssuer), ("aud", .string("payroll"), .invalidAudience),
            ("aud", nil, .invalidAudience), ("aud", .array([]), .invalidAudience),
            ("jti", nil, .invalidRequest), ("jti", .string(""), .invalidRequest),
            ("jti", .string("a\u{7}"), .invalidRequest), ("iat", nil, .invalidRequest),
            ("iat", .string("1763692300"), .invalidRequest),
            ("iat", .integer(Self.now + 61), .invalidRequest),
            ("iat", .integer(.max), .invalidRequest), ("iat", .integer(-1), .invalidRequest),
            ("nbf", .integer(Self.now + 61), .invalidRequest), ("nbf", .bool(true), .invalidRequest),
            ("events", nil, .invalidRequest), ("events", .object(JSONObject()), .invalidRequest),
            ("events", .string("x"), .invalidRequest),
            (
                "events", .object(JSONObject((0..<17).map { ("urn:x:\($0)", .object(JSONObject())) })),
                .invalidRequest
            ),
        ] as [(String, JSONValue?, SecurityEventError.Code)])
    func `a token with a wrong claim is refused`(
        claim: String, value: JSONValue?, code: SecurityEventError.Code
    ) throws {
        let token = try forged { $0[claim] = value }
        #expect(throws: SecurityEventError(code, "")) { try verify(token) }
    }

    @Test(arguments: ["at+jwt", "JWT"] as [StaticString])
    func `another kind of token of the same issuer is no event`(type: StaticString) throws {
        let token = try forged(type: type)
        #expect(throws: SecurityEventError(.invalidRequest, "")) { try verify(token) }
    }

    @Test func `a token of another key, of no key, or that is no token is refused`() throws {
        let other = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let foreign = try forged(with: other)
        #expect(throws: SecurityEventError(.invalidKey, "")) { try verify(foreign) }
        #expect(throws: SecurityEventError(.invalidKey, "")) {
            // A key set that has another key under this ID.
            try verifier.verify(foreign, at: Self.now) { _ in key.verificationKey }
        }
        #expect(throws: SecurityEventError(.invalidRequest, "")) { try verify("a.b.c") }
        #expect(throws: SecurityEventError(.invalidRequest, "")) {
            try verify(String(repeating: "a", count: TypedJWS.longestToken + 1))
        }
    }
}
