// SignIn owns the use cases: it verifies, writes through the group commit, reads, and announces changes. It
// knows no HTTP and no database, and the rules about tokens and states belong to the modules below.

import AppAttestation
public import AppleAccounts
public import AppleIdentity
public import Commits
public import KeySets

/// The use cases of callers. Thread-safe. No state is kept between two calls, except the number of rows of the
/// audit log about refused changes.
public struct SignInUseCases: Sendable {
    public let deployment: Deployment
    public let identityVerifier: IdentityTokenVerifier
    let notificationVerifier: NotificationVerifier
    let keys: any VerificationKeys
    let store: any AccountStore
    public let commits: GroupCommit<AccountCommand>
    public let feed: EventFeed
    let tokenContext: AppleTokenContext
    let codes: AuthorizationCodePolicy
    let nonces: NonceMint
    let nonceLifetime: Duration
    /// App Attest; `nil` where no app is judged.
    public let appChecks: AppChecks?
    /// True if some app is judged by its bundle ID. Otherwise `verify` and `signIn` do the work of the calls that
    /// judge, for less.
    public let judgesApps: Bool
    /// Tolerance for a token's expiry in seconds.
    let leeway: Int64
    /// Counts what was dropped of tokens and of posted profiles.
    private let onDropped: @Sendable ([String]) -> Void
    let now: @Sendable () -> Moment
    let refusedChanges = RefusedChangePace()

    /// - Parameters:
    ///   - policy: Issuers and leeway. Its client IDs are replaced by the client IDs of the deployment.
    ///   - feed: The feed that `commits` advances.
    ///   - tokenContext: The context that the workers share.
    ///   - nonceKey: The same in all replicas, because each must accept the nonces of the others.
    ///   - onDropped: Called with the names of values that were dropped, once for each token and profile.
    ///   - now: The wall clock.
    public init(
        deployment: Deployment, policy: VerificationPolicy, keys: any VerificationKeys,
        store: any AccountStore,
        commits: GroupCommit<AccountCommand>, feed: EventFeed, tokenContext: AppleTokenContext,
        nonceKey: NonceKey,
        nonceLifetime: Duration = .seconds(600), appChecks: AppChecks? = nil,
        onDropped: @escaping @Sendable ([String]) -> Void = { _ in },
        now: @escaping @Sendable () -> Moment
    ) {
        let policy = VerificationPolicy(
            issuers: policy.issuers, clientIDs: deployment.clientIDs.map(\.rawValue), leeway: policy.leeway,
            nonceEncodings: policy.nonceEncodings)
        self.deployment = deployment
        identityVerifier = IdentityTokenVerifier(policy: policy)
        notificationVerifier = NotificationVerifier(policy: policy)
        self.keys = keys
        self.store = store
        self.commits = commits
        self.feed = feed
        self.tokenContext = tokenContext
        codes = AuthorizationCodePolicy(
            canSeal: tokenContext.sealingKeys != nil, canSign: tokenContext.canSign)
        nonces = NonceMint(key: nonceKey)
        self.nonceLifetime = nonceLifetime
        self.appChecks = appChecks
        judgesApps = appChecks?.policies.judgesApps ?? false
        leeway = policy.leeway
        self.onDropped = onDropped
        self.now = now
    }

    func note(dropped: [String]) {
        if !dropped.isEmpty { onDropped(dropped) }
    }
}
