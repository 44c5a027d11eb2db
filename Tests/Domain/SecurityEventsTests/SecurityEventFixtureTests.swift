import AppleAccounts
import Foundation
import JOSE
import SecurityEvents
import StrictJSON
import TestSupport
import Testing

/// Plays `Fixtures/security-events-sent` and `Fixtures/security-events-received`.
@Suite struct SecurityEventFixtureTests {
    private static let root = FixtureFolder.root

    private static func names(in folder: String) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: folder).path)
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
        json.value(event)
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
