import AppleAccounts
import AuthorizationServer
import SignIn
import StrictJSON
import TestSupport
import Testing

@testable import Inspection
@testable import siwa

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
                    oauthClientID: try #require(OAuthClientID("phone")),
                    presented: token(generation), rotation: .init(salt: salt, retryWindow: 60_000),
                    scope: nil,
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

    private static func code(_ report: CheckReport) -> String {
        switch report.verdict {
        case .accepted: "accepted"
        case .refused(let code): code
        case .undecided: "undecided"
        }
    }

    @Test func `the current token is good, and the report says whose it is and repeats no secret`()
        async throws
    {
        try await Self.with { store, account in
            let report = await Self.inspect(Self.token(0).text, in: store)
            #expect(Self.code(report) == "accepted")
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
                #expect(Self.code(report) == "token_inactive")
                #expect(report.text.contains(words), "\(report.text)")
            }
            let late = await Self.inspect(Self.token(2).text, in: store, at: 3600)
            #expect(Self.code(late) == "token_inactive" && late.text.contains("has expired"))
            try await Self.commit(
                .revoke(
                    RevokeCommand(
                        oauthClientID: try #require(OAuthClientID("phone")),
                        token: .access(familyID: Self.familyID),
                        moment: Self.moment(30))), in: store)
            let ended = await Self.inspect(Self.token(2).text, in: store)
            #expect(Self.code(ended) == "token_inactive" && ended.text.contains("no such token family"))
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
            #expect(Self.code(report) == "token_inactive")
            #expect(
                report.text.contains("an account that is disabled")
                    && report.text.contains("client_id: phone"))
        }
    }
}
