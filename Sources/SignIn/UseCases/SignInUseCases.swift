// SignIn owns what the service does: it verifies, writes through the group commit, reads, and tells what
// changed. It knows no HTTP and no database, and every rule about tokens or states belongs to a room below.

public import AppleAccounts
public import AppleIdentity
public import KeySets

/// What callers can ask for. All of it is thread-safe, and nothing is remembered between two calls.
public struct SignInUseCases: Sendable {
    let deployment: Deployment
    public let identityVerifier: IdentityTokenVerifier
    let notificationVerifier: NotificationVerifier
    let keys: any VerificationKeys
    let store: any AccountStore
    public let commits: GroupCommit
    let feed: EventFeed
    let relation: AppleRelation
    let codes: AuthorizationCodePolicy
    let nonces: NonceMint
    let nonceLifetime: Duration
    /// Seconds, of a token's expiry.
    let leeway: Int64
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - policy: Issuers and leeway. Its client IDs are replaced by those of the deployment.
    ///   - feed: The one that `commits` advances.
    ///   - relation: What the workers share.
    ///   - nonceKey: The same in all replicas, because any of them may be asked to take what another has minted.
    ///   - now: The wall clock.
    public init(
        deployment: Deployment, policy: VerificationPolicy, keys: any VerificationKeys,
        store: any AccountStore,
        commits: GroupCommit, feed: EventFeed, relation: AppleRelation, nonceKey: NonceKey,
        nonceLifetime: Duration = .seconds(600),
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
        self.relation = relation
        codes = AuthorizationCodePolicy(sealer: relation.sealer, canSign: relation.canSign)
        nonces = NonceMint(key: nonceKey)
        self.nonceLifetime = nonceLifetime
        leeway = policy.leeway
        self.now = now
    }
}
