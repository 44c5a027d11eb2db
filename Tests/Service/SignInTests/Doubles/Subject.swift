import AppleAccounts
import AppleIdentity
import Commits
import StorageConformance
import StrictJSON
import TestSupport
import TokenMint

@testable import SignIn

/// The use cases over a store in memory, with Apple's key and a manual clock.
final class Subject: Sendable {
    static let app = App(
        team: "A1B2C3D4E5", primaryClientID: "com.example.app", otherClientIDs: ["com.example.web"])
    static let other = App(team: "A1B2C3D4E5", primaryClientID: "com.example.other")
    static let foreign = App(team: "OTHERTEAM1", primaryClientID: "org.example.app")

    let store = ReferenceStore()
    let feed = EventFeed()
    let keys: StubKeys
    let commits: GroupCommit<AccountCommand>
    let useCases: SignInUseCases
    private let clock = ManualClock(millisecondsSince1970: (TokenMint.sampleTime + 10) * 1000)

    init(keys: StubKeys? = nil, nonceLifetime: Duration = .seconds(600), app: App = Subject.app) throws {
        self.keys = try keys ?? StubKeys(cached: TokenMint.shared.publicKeys())
        commits = GroupCommit<AccountCommand>(store: store, feed: feed)
        useCases = SignInUseCases(
            deployment: try Deployment(apps: [app, Self.other, Self.foreign]),
            policy: VerificationPolicy(clientIDs: []), keys: self.keys, store: store, commits: commits,
            feed: feed, tokenContext: AppleTokenContext(tokens: store), nonceKey: .sample(),
            nonceLifetime: nonceLifetime,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) })
    }

    /// Sets the clock to this many seconds after the moment at which sample tokens are signed.
    func setClock(_ seconds: Int64) {
        clock.set(to: (TokenMint.sampleTime + seconds) * 1000)
    }

    /// A valid token, issued this many seconds after the sample moment, with changed claims.
    static func token(_ seconds: Int64 = 0, _ changes: [String: JSONValue?] = [:]) throws -> String {
        var claims = TokenMint.identityClaims(at: TokenMint.sampleTime + seconds)
        for (name, value) in changes { claims[name] = value }
        return try TokenMint.shared.sign(claims)
    }

    static func notification(
        _ type: String = "consent-revoked", at seconds: Int64 = 0, jti: String? = "jti-1",
        _ changes: [String: JSONValue?] = [:]
    ) throws -> String {
        let time = TokenMint.sampleTime + seconds
        var claims = TokenMint.notificationClaims(type: type, at: time)
        claims["jti"] = jti.map { .string($0) }
        for (name, value) in changes { claims[name] = value }
        return try TokenMint.shared.sign(claims)
    }

    @discardableResult
    func signIn(
        _ seconds: Int64 = 0, _ changes: [String: JSONValue?] = [:], nonce: String? = nil,
        user: UserProfile? = nil, createsAccount: Bool = true, allowed: AppScope = .all
    ) async throws -> SignInOutcome {
        let token = try Self.token(seconds, changes)
        return try await useCases.commitSignIn(
            SignInRequest(
                token: IdentityTokenRequest(identityToken: token, nonce: nonce), user: user,
                createsAccount: createsAccount),
            allowed: allowed)
    }
}
