import AppleAccounts
import AppleIDClient
import AppleIdentity
import Commits
import Cryptography
import KeySets
import Logging
import StorageConformance
import StrictJSON
import Synchronization
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

extension SignInUseCases {
    /// Signs in and returns when the sign-in is durable.
    @discardableResult
    func commitSignIn(_ request: SignInRequest, allowed: AppScope = .all) async throws -> SignInOutcome {
        try await signIn(request, allowed: allowed).value.outcome
    }

    /// Receives a notification and returns when it is durable.
    @discardableResult
    func commitNotification(_ payload: String) async throws -> NotificationReceipt {
        try await receiveNotification(payload: payload).value.receipt
    }
}

/// Counts the lines of a log.
final class CountedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: CountedLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.total.add(1, ordering: .relaxed)
        }
    }

    private let total = Atomic(0)

    var count: Int { total.load(ordering: .relaxed) }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
