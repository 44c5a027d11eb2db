import AppleAccounts
import AuthorizationServer
import Cryptography
import JOSE
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import Inspection
@testable import siwa

/// `siwa verify` on tokens of this service.
@Suite struct IssuedTokenInspectionTests {
    private static let issuer = "https://accounts.example.com"
    private static let now = 1_767_225_600 as Int64

    private static let keys = Result {
        (
            access: try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256),
            id: try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .RS256), algorithm: .RS256)
        )
    }

    private static func accessToken() throws -> AccessToken {
        AccessToken(
            issuer: issuer, audience: issuer, accountID: AccountID(UniqueID(high: 1, low: 1)),
            clientID: try #require(OAuthClientID("shop")), familyID: UniqueID(high: 7, low: 7),
            random: Array(repeating: 1, count: 16), scope: "openid", issuedAt: now, expiresAt: now + 3600,
            authenticatedAt: now - 60)
    }

    private static func inspect(
        _ kind: IssuedTokenKind, _ text: String, issuer: String? = issuer, audiences: [String] = [],
        nonce: String? = nil, accessToken: String? = nil, at moment: Int64 = now + 60, keySet: String? = nil,
        family: (@Sendable (UniqueID) async throws -> TokenStatus?)? = nil
    ) async throws -> CheckReport {
        let inspection = IssuedTokenInspection(
            kind: kind, issuer: kind == .refreshToken ? nil : issuer, audiences: audiences, nonce: nonce,
            accessToken: accessToken, moment: Moment(seconds: moment))
        let keys = try keys.get()
        let set = JSONValue.object(
            JSONObject([("keys", .array([keys.access, keys.id].map { .object($0.verificationKey.jwk) }))]))
        let content = keySet ?? String(decoding: set.serialized(), as: UTF8.self)
        return try await TemporaryFile.with(content) { path in
            await inspection.inspect(text, keys: InspectionKeys(file: path, url: nil), family: family)
        }
    }

    @Test func `an access token is read check by check, and its claims are shown`() async throws {
        let text = try Self.accessToken().signed(with: try Self.keys.get().access)
        let report = try await Self.inspect(.accessToken, text, audiences: [Self.issuer])
        #expect(report.code == "accepted" && report.isSigned)
        #expect(report.checks.map(\.name).prefix(4) == ["form", "type", "key", "signature"])
        #expect(report.checks.last?.name == "family" && report.checks.last?.finding == .notAsked)
        #expect(report.text.contains("client_id: shop"))
    }

    @Test func `each fault has its check, and hides no other`() async throws {
        let keys = try Self.keys.get()
        let text = try Self.accessToken().signed(with: keys.access)
        let other = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let foreign = try Self.accessToken().signed(with: other)
        let changed = String(text.dropLast(4)) + "AAAA"
        let wrong: [(String, CheckReport)] = [
            ("token_malformed", try await Self.inspect(.accessToken, "x.y")),
            ("type_mismatch", try await Self.inspect(.idToken, text)),
            ("unknown_key", try await Self.inspect(.accessToken, foreign)),
            ("signature_invalid", try await Self.inspect(.accessToken, changed)),
            ("issuer_mismatch", try await Self.inspect(.accessToken, text, issuer: Self.issuer + "/")),
            ("audience_mismatch", try await Self.inspect(.accessToken, text, audiences: ["api"])),
            ("token_expired", try await Self.inspect(.accessToken, text, at: Self.now + 3600)),
            ("token_inactive", try await Self.inspect(.accessToken, text, family: { _ in nil })),
            ("undecided", try await Self.inspect(.accessToken, text, keySet: "<html>")),
        ]
        for (code, report) in wrong {
            #expect(report.code == code)
            let failed = try #require(
                report.checks.firstIndex { $0.finding == .failed || $0.finding == .unknown })
            #expect((report.checks[failed].failure == nil) == (code == "undecided"))
            _ = try JSONValue(parsing: Array(report.json.utf8))
        }
        let late = try await Self.inspect(.accessToken, foreign, audiences: ["api"], at: Self.now + 3600)
        let failed = late.checks.filter { $0.finding == .failed }.map(\.name)
        #expect(failed == ["key", "audience", "expiration"])
        #expect(late.checks.first { $0.name == "issuer" }?.finding == .passed)
        #expect(late.text.contains(", without leeway\n") && late.text.contains("; no leeway"))
    }

    @Test func `an ID token is compared with nonce and access token, and a report to Google with its form`()
        async throws
    {
        let keys = try Self.keys.get()
        let account = Account(
            id: AccountID(UniqueID(high: 1, low: 1)), team: try #require(TeamID("A1B2C3D4E5")),
            subject: try #require(AppleSubject("s")), createdAt: Moment(seconds: 1))
        let idToken = IDToken(
            issuer: Self.issuer, clientID: try #require(OAuthClientID("shop")), account: account,
            scope: "openid", nonce: "n",
            accessToken: "a", issuedAt: Self.now, expiresAt: Self.now + 3600, authenticatedAt: Self.now)
        let text = try idToken.signed(with: keys.id)
        let good = try await Self.inspect(.idToken, text, audiences: ["shop"], nonce: "n", accessToken: "a")
        #expect(good.code == "accepted")
        #expect(try await Self.inspect(.idToken, text, nonce: "m").code == "nonce_mismatch")
        let hash = try await Self.inspect(.idToken, text, accessToken: "b")
        #expect(hash.code == "access_token_hash_mismatch")
        let event = try TokenRevokedEvent(
            issuer: Self.issuer, id: "evt_3", doubleSHA512: .hash([1]), issuedAt: Self.now
        ).signed(with: keys.id)
        #expect(try await Self.inspect(.securityEvent, event).code == "accepted")
    }

    @Test func `of a refresh token the form is known, and with the database what it is`() async throws {
        let text = RefreshTokenText(
            familyID: UniqueID(high: 1, low: 1), familySecret: Array(repeating: 2, count: 16), generation: 4,
            secret: Array(repeating: 3, count: 32))
        let form = try await Self.inspect(.refreshToken, text.text)
        #expect(form.code == "accepted" && !form.isSigned)
        #expect(form.text.contains("generation: 4") && !form.text.contains(text.text.dropFirst(60)))
        #expect(try await Self.inspect(.refreshToken, "siwa_rt_x").code == "token_malformed")
        // A family without a row: ended, or never begun.
        let ended = try await Self.inspect(.refreshToken, text.text) { _ in nil }
        #expect(ended.code == "token_inactive")
        #expect(ended.text.contains("no such token family"))
        struct Unreadable: Error {}
        let unknown = try await Self.inspect(.refreshToken, text.text) { _ in throw Unreadable() }
        #expect(unknown.code == "undecided")
    }
}

/// The place of this service's tokens in the database, which `siwa verify --database` shows.
@Suite(.timeLimit(.hung)) struct FamilyLookupTests {
    private static let now = StoredAccounts.now
    private static let familyID = UniqueID(high: 7, low: 7)

    private static func token(_ generation: UInt32, family secret: UInt8 = 1) -> RefreshTokenText {
        let first = RefreshTokenText(
            familyID: familyID,
            familySecret: Array(repeating: secret, count: RefreshTokenText.familySecretSize), generation: 0,
            secret: Array(repeating: 0, count: RefreshTokenText.secretSize))
        return (0..<generation).reduce(first) { token, _ in token.successor(salt: salt) ?? token }
    }

    private static let salt = Array(repeating: 7 as UInt8, count: RefreshTokenText.saltSize)

    /// A database on disk with the tokens of one native sign-in.
    private static func with(_ body: (any ServiceStore, Account) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory) { store in
                try await StoredAccounts.signIn(["s-1"], in: store)
                let key = SubjectKey(
                    team: try #require(TeamID(RunningApple.team)), subject: try #require(AppleSubject("s-1")))
                let account = try #require(try await store.account(key))
                let client = try #require(OAuthClientID("phone"))
                let app = try #require(ClientID(RunningApple.clientID))
                try await commit(
                    .exchange(
                        TokenExchangeCommand(
                            accountID: account.id, newGrantID: GrantID(UniqueID(high: 8, low: 8)),
                            oauthClientID: client, clientID: app, scope: "openid email", authenticatedAt: now,
                            authenticatedAfter: nil, newFamilyID: familyID,
                            refreshToken: token(0).newToken(forGoogle: false), familyExpiresAt: moment(3600),
                            limits: FamilyLimits(perClient: 10, perAccount: 50), moment: now)), in: store)
                try await body(store, account)
            }
        }
    }

    private static func moment(_ seconds: Int64) -> Moment { now.advanced(byMilliseconds: seconds * 1000) }

    private static func commit(_ command: GrantCommand, in store: any ServiceStore) async throws {
        let result = try await withCheckedThrowingContinuation { continuation in
            store.commit([command]) { continuation.resume(with: $0) }
        }
        for result in result.results { _ = try result.get() }
    }

    /// Replaces the current token by its successor.
    private static func refresh(from generation: UInt32, at seconds: Int64, in store: any ServiceStore)
        async throws
    {
        try await commit(
            .refresh(
                RefreshCommand(
                    oauthClientID: try #require(OAuthClientID("phone")), presented: token(generation),
                    rotation: .init(salt: salt, retryWindow: 60_000), scope: nil,
                    clientScopes: ScopeSet([.openID, .email]), familyExpiresAt: moment(3600),
                    moment: moment(seconds))), in: store)
    }

    private static func inspect(
        _ text: String, in store: any ServiceStore, at seconds: Int64 = 60
    ) async -> CheckReport {
        let inspection = IssuedTokenInspection(
            kind: .refreshToken, issuer: nil, audiences: [], nonce: nil, accessToken: nil,
            moment: moment(seconds))
        return await inspection.inspect(text, keys: InspectionKeys(file: nil, url: nil)) {
            try await store.status(ofFamily: $0)
        }
    }

    @Test func `the current token is good, and the report says whose it is and repeats no secret`()
        async throws
    {
        try await Self.with { store, account in
            let report = await Self.inspect(Self.token(0).text, in: store)
            #expect(report.code == "accepted")
            for text in [
                "generation: 0", "client_id: phone", "scope: openid email", "credential: authorized",
                account.id.rawValue, "app: \(RunningApple.clientID)",
            ] { #expect(report.text.contains(text), "\(text)\n\(report.text)") }
            #expect(!report.text.contains(Self.token(0).text.suffix(40)))
            #expect(!report.json.contains(Self.token(0).text.suffix(40)))
        }
    }

    @Test func `an older token, a forged one and one of an ended family each have their words`() async throws
    {
        try await Self.with { store, _ in
            try await Self.refresh(from: 0, at: 10, in: store)
            try await Self.refresh(from: 1, at: 20, in: store)
            #expect(await Self.inspect(Self.token(2).text, in: store).text.contains("generation: 2"))
            for (text, words) in [
                (Self.token(1).text, "a token before the current one"),
                (Self.token(0).text, "a token before the current one"),
                (Self.token(3).text, "an older token of the family, or an invented one"),
                (Self.token(2, family: 9).text, "never issued for this family"),
            ] {
                let report = await Self.inspect(text, in: store)
                #expect(report.code == "token_inactive")
                #expect(report.text.contains(words), "\(report.text)")
            }
            let late = await Self.inspect(Self.token(2).text, in: store, at: 3600)
            #expect(late.code == "token_inactive" && late.text.contains("has expired"))
            try await Self.commit(
                .revoke(
                    RevokeCommand(
                        oauthClientID: try #require(OAuthClientID("phone")),
                        token: .access(familyID: Self.familyID), moment: Self.moment(30))), in: store)
            let ended = await Self.inspect(Self.token(2).text, in: store)
            #expect(ended.code == "token_inactive" && ended.text.contains("no such token family"))
        }
    }

    @Test func `a disabled account is named, with the family that stays`() async throws {
        try await Self.with { store, account in
            let key = SubjectKey(team: account.team, subject: account.subject)
            _ = try await store.commit([
                .disable(
                    DisableCommand(
                        key: key, accountID: account.id, reason: .abuse, until: .last, scope: .all,
                        moment: Self.moment(30)))
            ])
            let report = await Self.inspect(Self.token(0).text, in: store)
            #expect(report.code == "token_inactive")
            #expect(
                report.text.contains("an account that is disabled")
                    && report.text.contains("client_id: phone"))
        }
    }
}

extension CheckReport {
    /// The verdict in one word: the code of a refusal.
    fileprivate var code: String {
        switch verdict {
        case .accepted: "accepted"
        case .refused(let code): code
        case .undecided: "undecided"
        }
    }
}
