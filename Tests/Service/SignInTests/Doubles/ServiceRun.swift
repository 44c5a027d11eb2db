import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import Cryptography
import KeySets
import StorageConformance
import StrictJSON
import TestSupport
import TokenMint

@testable import SignIn

/// One run of the service with its workers, which a test drives step by step.
struct ServiceRun: Sendable {
    let useCases: SignInUseCases
    let exchange: ClaimLoop<CodeExchange>
    let check: ClaimLoop<DailyCheck>
    let erasure: ClaimLoop<ErasureWorker>
    let tokenContext: AppleTokenContext
    let commits: GroupCommit<AccountCommand>
    let clock = HurriedClock()

    var grantCheck: TokenResponseCheck {
        TokenResponseCheck(verifier: useCases.identityVerifier, keys: useCases.keys)
    }

    init(
        store: any AccountStore & AppleTokenStore, apple: any AppleTokenService, sealing: SealingKeyRing?,
        canSign: Bool, keys: any VerificationKeys, perSecond: Double, waits: (any Clock<Duration>)?,
        now: @escaping @Sendable () -> Moment
    ) throws {
        let feed = EventFeed()
        commits = GroupCommit<AccountCommand>(store: store, feed: feed)
        tokenContext = AppleTokenContext(
            tokens: store, sealingKeys: sealing, canSign: { _ in canSign }, clock: waits ?? clock)
        useCases = SignInUseCases(
            deployment: try Deployment(apps: [Subject.app, Subject.other, Subject.foreign]),
            policy: VerificationPolicy(clientIDs: []), keys: keys, store: store, commits: commits,
            feed: feed, tokenContext: tokenContext, nonceKey: .sample(), now: now)
        exchange = ClaimLoop(
            CodeExchange(
                tokenContext: tokenContext, commits: commits, apple: apple,
                check: TokenResponseCheck(verifier: useCases.identityVerifier, keys: keys), now: now,
                logger: .silent))
        check = ClaimLoop(
            DailyCheck(
                tokenContext: tokenContext, commits: commits, apple: apple, perSecond: perSecond, now: now,
                logger: .silent))
        erasure = ClaimLoop(
            ErasureWorker(tokenContext: tokenContext, apple: apple, now: now, logger: .silent))
    }

    @discardableResult
    func signIn(
        _ world: World, code: String? = World.code, redirectURI: String? = nil,
        _ changes: [String: JSONValue?] = [:]
    ) async throws -> SignInOutcome {
        try await useCases.commitSignIn(
            SignInRequest(
                token: IdentityTokenRequest(
                    identityToken: world.token(code, changes), authorizationCode: code),
                redirectURI: redirectURI),
            allowed: .all)
    }

    /// Runs one round of each worker: carries out the due work, one piece after the other.
    func exchangeDue() async {
        for code in await exchange.claim(16).work { await exchange.perform(code) }
    }

    func checkDue(_ room: Int = 8) async {
        for token in await check.claim(room).work { await check.perform(token) }
    }

    func eraseDue() async {
        for token in await erasure.claim(8).work { await erasure.perform(token) }
    }
}
