import AppleAccounts
import Encodings
import Foundation
import JOSE
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@Suite struct SecurityEventTokenTests {
    private static let issuer = "https://signin.example.com"
    private static let now: Int64 = 1_763_692_300

    private let key: TokenSigningKey
    private let verifier = SecurityEventVerifier(issuer: Self.issuer, audiences: ["billing", "mail"])

    init() throws { key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256) }

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
        let event = AccountEvent.sample(kind)
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
        #expect(account?["id"]?.string == AccountEvent.sample().accountID?.rawValue)
        let user = try claims(try token(.sample(hasAccount: false)))["sub_id"]
        #expect(user?["format"]?.string == "iss_sub")
        #expect(user?["iss"]?.string == "https://appleid.apple.com")
        #expect(user?["sub"]?.string == "000317.d4f5.1444")
    }

    @Test func `an event of an erased user without an account has no subject`() throws {
        #expect(SecurityEventSubject(of: .sample(subject: nil, hasAccount: false)) == nil)
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

@Suite struct SecurityEventTypeTests {
    private static let root = ProjectFolder.root

    @Test func `the page on events has the type of every event, and no other`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/events.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "## Types of security events").last)
        let rows = section.matches(of: /\| `([a-z_]+)` \| `([^`]+)` \|/).map { [String($0.1), String($0.2)] }
        let types = AccountEvent.Kind.allCases.map { [$0.rawValue, $0.securityEventType.uri] }
        #expect(Set(rows) == Set(types))
        #expect(rows.count == types.count)
    }

    @Test func `an event without a type of OpenID has a URI of its own`() {
        #expect(AccountEvent.Kind.emailChanged.securityEventType.uri == "urn:siwa:event:email-changed")
        let kinds = AccountEvent.Kind.allCases.filter { $0.securityEventType.uri.hasPrefix("urn:") }
        #expect(Set(kinds.map(\.securityEventType)).count == kinds.count)
    }
}

extension AccountEvent {
    /// A revocation of one app's credential.
    ///
    /// - Parameter subject: `nil` for an erased user.
    static func sample(
        _ kind: Kind = .credentialRevoked, subject: String? = "000317.d4f5.1444", hasAccount: Bool = true
    ) -> AccountEvent {
        AccountEvent(
            sequence: 7, id: EventID(UniqueID(high: 0x7000, low: 0x8000_0000_0000_0001)), kind: kind,
            team: "A1B2C3D4E5", subject: subject.flatMap { AppleSubject($0) },
            accountID: hasAccount ? AccountID(UniqueID(high: 0x7001, low: 0x8000_0000_0000_0002)) : nil,
            clientID: "com.example.app", reason: .consentRevoked, source: .notification,
            moment: Moment(milliseconds: 1_763_692_270_622),
            recordedAt: Moment(milliseconds: 1_763_692_282_101))
    }
}

/// Plays `Fixtures/security-events-sent` and `Fixtures/security-events-received`.
@Suite struct SecurityEventFixtureTests {
    private static let root = FixtureFolder.root

    private static func names(in folder: String) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return (files ?? []).sorted()
    }

    private static func fixture(_ path: String) throws -> JSONValue {
        let content = try Data(contentsOf: root.appending(path: path))
        return try JSONValue(parsing: Array(content), limits: JSONLimits(depth: 16, members: 256))
    }

    @Test(arguments: names(in: "security-events-sent"))
    func `a token that is sent says what the fixture says`(name: String) throws {
        let fixture = try Self.fixture("security-events-sent/\(name)")
        let event = try Self.event(try #require(fixture["event"]))
        let token = SecurityEventToken(
            issuer: try #require(fixture["issuer"]?.string),
            audience: try #require(fixture["audience"]?.string),
            subject: try #require(SecurityEventSubject(of: event)), event: event,
            issuedAt: try #require(fixture["issued_at"]?.integer))
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let segments = try #require(JWSSegments(compact: try token.signed(with: key)))
        #expect(Array(segments.payload) == (try #require(fixture["claims"])).serialized())
        // The event is that of the feed.
        var json = JSONWriter()
        event.write(into: &json)
        #expect(json.bytes == (try #require(fixture["event"])).serialized())
    }

    @Test func `every event has a fixture of its token`() throws {
        let kinds = try Self.names(in: "security-events-sent").map { name in
            try Self.fixture("security-events-sent/\(name)")["event"]?["type"]?.string
        }
        #expect(Set(kinds) == Set(AccountEvent.Kind.allCases.map(\.rawValue)))
    }

    @Test(arguments: names(in: "security-events-received"))
    func `a token that arrives is judged as the fixture says`(name: String) throws {
        let fixture = try Self.fixture("security-events-received/\(name)")
        let set = try #require(fixture["key_set"]?.string)
        let entries = try Self.fixture("key-sets/\(set)")["keys"]?.array ?? []
        let verifier = SecurityEventVerifier(
            issuer: try #require(fixture["issuer"]?.string),
            audiences: fixture["audiences"]?.array?.compactMap(\.string) ?? [])
        let now = try #require(fixture["at"]?.string.flatMap { Moment(rfc3339: $0) }).milliseconds / 1000
        let token = try #require(fixture["token"]?.string)
        func verify() throws -> SecurityEventClaims {
            try verifier.verify(token, at: now) { keyID in
                entries.first { $0["kid"]?.string == keyID }.flatMap { try? TokenVerificationKey(jwk: $0) }
            }
        }
        if let code = fixture["code"]?.string {
            let expected = try #require(SecurityEventError.Code(rawValue: code))
            #expect(throws: SecurityEventError(expected, "")) { try verify() }
        } else {
            let claims = try verify()
            #expect(claims.id == fixture["read"]?["jti"]?.string)
            #expect(claims.issuedAt == fixture["read"]?["iat"]?.integer)
            #expect(
                claims.events.members.map(\.name)
                    == fixture["read"]?["events"]?.array?.compactMap(\.string))
        }
    }

    @Test(arguments: SecurityEventError.Code.allCases)
    func `every refusal has fixtures`(code: SecurityEventError.Code) throws {
        let codes = try Self.names(in: "security-events-received").map { name in
            try Self.fixture("security-events-received/\(name)")["code"]?.string
        }
        #expect(codes.filter { $0 == code.rawValue }.count > 2)
    }

    /// Reads an event in the form of the feed.
    private static func event(_ json: JSONValue) throws -> AccountEvent {
        func text(_ name: String) -> String? { json[name]?.string }
        let kind = try #require(text("type").flatMap { AccountEvent.Kind(rawValue: $0) })
        let grant = try json["grant"].map { try Self.grant($0) }
        return AccountEvent(
            id: try #require(text("id").flatMap { EventID($0) }), kind: kind,
            team: try #require(text("team_id").flatMap { TeamID($0) }),
            subject: text("sub").flatMap { AppleSubject($0) },
            accountID: text("account_id").flatMap { AccountID($0) },
            clientID: text("client_id").flatMap { ClientID($0) },
            reason: grant == nil ? text("reason").flatMap { CredentialReason(rawValue: $0) } : nil,
            source: text("source").flatMap { CredentialSource(rawValue: $0) }, grant: grant,
            moment: try #require(text("occurred_at").flatMap { Moment(rfc3339: $0) }),
            recordedAt: try #require(text("recorded_at").flatMap { Moment(rfc3339: $0) }))
    }

    private static func grant(_ json: JSONValue) throws -> GrantReference {
        let google = json["google_event"]
        let kind = google?["type"]?.string.flatMap { GoogleEventKind(rawValue: $0) }
        return GrantReference(
            id: try #require(json["id"]?.string.flatMap { GrantID($0) }),
            oauthClientID: try #require(json["client_id"]?.string.flatMap { OAuthClientID($0) }),
            reason: json["reason"]?.string.flatMap { GrantEndReason(rawValue: $0) },
            googleEvent: kind.map {
                GoogleEventReference(
                    kind: $0, reason: google?["reason"]?.string.flatMap { GoogleEventReason(rawValue: $0) })
            })
    }
}
