import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import JOSE
import KeySets
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// Security events from Google, and to Google.
@Suite struct SecurityEventTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    /// Links a user by streamlined linking, so that the Google account is known.
    private func linked(_ world: OAuthWorld) async throws -> (Account, TokenResponse) {
        let account = try await world.user { claims in
            claims["email"] = .string("ada@gmail.com")
            claims["is_private_email"] = nil
        }
        let tokens = try await world.assert("get", try world.googleToken()).tokens
        return (account, tokens)
    }

    @Test(arguments: [
        "risc/event-type/sessions-revoked", "oauth/event-type/tokens-revoked",
        "risc/event-type/account-disabled",
    ])
    func `Google's revocations end the link, once`(type: String) async throws {
        let (_, tokens) = try await linked(world)
        let receiver = SecurityEventReceiver(world.server)
        let event = try world.securityEvent(type)
        #expect(try await receiver.receive(event) == .applied)
        #expect(try await !world.isActive(tokens.accessToken))
        #expect(try await receiver.receive(event) == .duplicate)
        // Google is not told of what it asked for itself.
        #expect(try await world.reported().isEmpty)
    }

    @Test(arguments: [
        "risc/event-type/verification", "risc/event-type/account-credential-change-required", "x/unknown",
    ])
    func `other events are kept and end nothing`(type: String) async throws {
        let (_, tokens) = try await linked(world)
        let receiver = SecurityEventReceiver(world.server)
        #expect(try await receiver.receive(try world.securityEvent(type)) == .applied)
        #expect(try await world.isActive(tokens.accessToken))
    }

    @Test(arguments: [
        ("oauth/event-type/tokens-revoked", false), ("risc/event-type/sessions-revoked", true),
        ("risc/event-type/account-disabled", true),
    ])
    func `what is said of another project's tokens ends nothing of this client, and of the account all`(
        type: String, endsLink: Bool
    ) async throws {
        let world = try OAuthWorld { draft in
            guard var other = draft.clients.last else { return }
            other.id = "google-two"
            other.projectID = "home-link-43"
            other.appFlip = false
            other.secretHashes = [Hexadecimal.encode(SHA256Digest.hash("another secret"))]
            other.googleClientIDs = ["456-def.apps.googleusercontent.com"]
            draft.clients.append(other)
        }
        let (_, tokens) = try await linked(world)
        let event = try world.securityEvent(type) {
            $0["aud"] = .string("456-def.apps.googleusercontent.com")
        }
        let receipt = try await SecurityEventReceiver(world.server).receive(event)
        #expect(receipt == (endsLink ? .applied : .applied(unmatched: .tokensRevoked)))
        #expect(try await world.isActive(tokens.accessToken) == !endsLink)
    }

    @Test(
        arguments: [
            ("hijacking", .hijacking), ("bulk-account", .bulkAccount), ("something-new", nil), (nil, nil),
        ] as [(String?, GoogleEventReason?)])
    func `the event feed has Google's reason`(word: String?, reason: GoogleEventReason?) async throws {
        _ = try await linked(world)
        let name = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
        let event = try world.securityEvent("risc/event-type/account-disabled") { claims in
            guard var event = claims["events"]?[name]?.object else { return }
            event["reason"] = word.map { .string($0) }
            claims["events"] = .object(JSONObject([(name, .object(event))]))
        }
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied)
        let ended = try await world.store.allEvents().last { $0.kind == .grantRevoked }
        #expect(ended?.grant?.googleEvent == GoogleEventReference(kind: .accountDisabled, reason: reason))
    }

    @Test(
        arguments: [
            ("risc/event-type/sessions-revoked", .sessionsRevoked),
            ("oauth/event-type/tokens-revoked", .tokensRevoked),
            ("risc/event-type/account-disabled", .accountDisabled),
            ("risc/event-type/account-enabled", .accountEnabled),
            ("risc/event-type/account-credential-change-required", .credentialChangeRequired),
            ("x/new", .other),
            // Without a digest of a token.
            ("oauth/event-type/token-revoked", .tokenRevoked),
        ] as [(String, GoogleEventKind)])
    func `an event about a Google account without a link is counted`(
        type: String, kind: GoogleEventKind
    ) async throws {
        _ = try await linked(world)
        let event = try world.securityEvent(type, sub: "g-2")
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied(unmatched: kind))
    }

    @Test(arguments: [
        (JSONValue.string("state-1"), "state-1", true), (.string("state-1"), "state-2", false),
        (.string(String(repeating: "x", count: 256)), String(repeating: "x", count: 256), false),
        (.integer(1), "1", false),
    ])
    func `a verification is found by its state, which nothing else has`(
        state: JSONValue, asked: String, isFound: Bool
    ) async throws {
        let name = "https://schemas.openid.net/secevent/risc/event-type/verification"
        let event = try world.securityEvent("x") { claims in
            claims["events"] = .object(JSONObject([(name, .object(JSONObject([("state", state)])))]))
        }
        #expect(try await world.store.lastGoogleEvent() == nil)
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied)
        #expect(try await world.store.googleVerification(asked) == (isFound ? world.now : nil))
        #expect(try await world.store.lastGoogleEvent() == world.now)
    }

    @Test func `a second Google account does not take the place of the first`() async throws {
        let (_, first) = try await linked(world)
        let other = try world.googleToken(sub: "g-2")
        let second = try await world.assert("get", other).tokens
        _ = try await SecurityEventReceiver(world.server).receive(
            try world.securityEvent("risc/event-type/sessions-revoked"))
        #expect(try await !world.isActive(first.accessToken))
        #expect(try await world.isActive(second.accessToken))
    }

    @Test func `one token is ended by its double hash`() async throws {
        let (_, tokens) = try await linked(world)
        let digest = try #require(RefreshTokenText(parsing: tokens.refreshToken ?? "")).doubleSHA512
        let subject = JSONObject([
            ("subject_type", .string("oauth_token")), ("token_type", .string("refresh_token")),
            ("token_identifier_alg", .string("hash_SHA512_double")),
            ("token", .string(Hexadecimal.encode(digest.bytes))),
        ])
        let event = try world.securityEvent("x") { claims in
            let name = "https://schemas.openid.net/secevent/oauth/event-type/token-revoked"
            claims["events"] = .object(
                JSONObject([(name, .object(JSONObject([("subject", .object(subject))])))]))
        }
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied)
        #expect(try await !world.isActive(tokens.accessToken))
    }

    @Test(arguments: [
        ("iss", JSONValue.string("https://accounts.google.com"), SecurityEventError.Code.invalidIssuer),
        ("aud", .string("other"), .invalidAudience), ("jti", .null, .invalidRequest),
        ("iat", .integer(TokenMint.sampleTime + 3600), .invalidRequest),
        ("nbf", .integer(TokenMint.sampleTime + 121), .invalidRequest), ("nbf", .null, .invalidRequest),
        ("events", .object(JSONObject()), .invalidRequest),
    ])
    func `a bad token is refused by RFC 8935`(
        claim: String, value: JSONValue, code: SecurityEventError.Code
    ) async throws {
        let event = try world.securityEvent("risc/event-type/verification") { $0[claim] = value }
        await #expect(throws: SecurityEventError(code, "")) {
            _ = try await SecurityEventReceiver(world.server).receive(event)
        }
    }

    @Test func `a token for several recipients is for us too`() async throws {
        let event = try world.securityEvent("risc/event-type/verification") {
            $0["aud"] = .array([.string("other"), .string(OAuthSample.googleClientID)])
        }
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied)
    }

    @Test func `garbage and other keys are refused`() async throws {
        let receiver = SecurityEventReceiver(world.server)
        await #expect(throws: SecurityEventError(.invalidRequest, "")) { try await receiver.receive("x") }
        let claims = try OAuthWorld.claims(try world.securityEvent("x")).object
        let forged = try TokenMint(keyID: TokenMint.shared.keyID).sign(try #require(claims))
        await #expect(throws: SecurityEventError(.invalidKey, "")) { _ = try await receiver.receive(forged) }
    }

    @Test func `an unlinked refresh token is told to Google`() async throws {
        let account = try await world.user()
        let tokens = try await world.linked(account.id)
        let grant = try #require(try await world.store.grants(of: account.id).first)
        try await GrantUseCases(world.server).end(grant.id.rawValue, of: account.id.rawValue, allowed: .all)
        let digest = try #require(RefreshTokenText(parsing: tokens.refreshToken ?? "")).doubleSHA512
        #expect(try await world.reported() == [digest])
    }
}

extension OAuthWorld {
    /// The refresh tokens of whose end Google is told.
    func reported() async throws -> [SHA512Digest] {
        try await store.allEvents().compactMap(\.grant?.endedToken)
    }
}

/// Plays `Fixtures/security-events-google`.
@Suite struct GoogleEventFixtureTests {
    private static let root = FixtureFolder.root

    private static let names: [String] = {
        let folder = root.appending(path: "security-events-google")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }()

    private static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root.appending(path: path)))
    }

    private static func fixture(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: bytes("security-events-google/\(name)"))
    }

    @Test(arguments: names)
    func `a token of Google is judged as the fixture says`(name: String) async throws {
        let fixture = try Self.fixture(name)
        let set = try #require(fixture["key_set"]?.string)
        let keys = try PinnedKeySet(parsing: Self.bytes("key-sets/\(set)"))
        let now = try #require(fixture["at"]?.string.flatMap { Moment(rfc3339: $0) })
        let text = try #require(fixture["token"]?.string)
        let clients = try OAuthWorld().settings.clients.clients
        func read() async throws -> GoogleEventToken {
            try await GoogleEventToken(text, settings: .google, clients: clients, keys: keys, at: now)
        }
        if let code = fixture["code"]?.string {
            let expected = try #require(SecurityEventError.Code(rawValue: code))
            await #expect(throws: SecurityEventError(expected, "")) { try await read() }
            return
        }
        let token = try await read()
        let expected = try #require(fixture["read"])
        let event = try #require(token.events.first)
        #expect(token.events.count == 1)
        #expect(token.jti == expected["jti"]?.string)
        #expect(event.kind.rawValue == expected["kind"]?.string)
        #expect(event.reason?.rawValue == expected["reason"]?.string)
        #expect(token.verificationState == expected["state"]?.string)
        let changes = expected["changes"]?.array?.compactMap(\.string)
        #expect(event.changes.map { Self.words(of: $0) } == changes)
    }

    @Test(arguments: GoogleEventKind.allCases)
    func `every event of Google has a fixture in both forms`(kind: GoogleEventKind) throws {
        let kinds = try Self.names.map { try Self.fixture($0)["read"]?["kind"]?.string }
        #expect(kinds.filter { $0 == kind.rawValue }.count >= 2)
    }

    /// A change in the words of the fixtures.
    private static func words(of change: GoogleEventCommand.Change) -> String {
        switch change {
        case .endFamilies(let account, _, nil): "end all \(account)"
        case .endFamilies(let account, _, let clients?):
            clients.map(\.rawValue) == ["google"] ? "end project \(account)" : "end \(clients)"
        case .endToken(let digest, let clients, let account):
            clients.map(\.rawValue) == ["google"] && account == nil
                ? "end token \(Hexadecimal.encode(digest.bytes))" : "end a token of \(clients)"
        case .disable(let account, _): "disable \(account)"
        case .enable(let account, _): "enable \(account)"
        case .name(let account): "name \(account)"
        }
    }
}
