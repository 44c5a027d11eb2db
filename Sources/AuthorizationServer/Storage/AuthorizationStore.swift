public import AppleAccounts

/// Where grants, codes and lines of tokens are kept, beside the accounts and in their transactions.
///
/// Codes and tokens are kept as digests only. When a notification, an erasure or a transfer ends or moves a
/// credential for good, the store ends or moves its grants in the same transaction (`GrantEnding`).
///
/// Commands of one account run one after the other, also at different replicas: each transaction locks the
/// accounts before it reads, against each other and against what ends credentials.
public protocol AuthorizationStore: Sendable {
    /// Applies the commands in their order, in one transaction, and calls `completion` once, later, on any
    /// thread, when it is durable. A command that is refused changes nothing, but for what its refusal says,
    /// and does not touch the others.
    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void)

    /// `nil` when the line or its grant has ended.
    func standing(ofLine id: UniqueID) async throws -> TokenStanding?

    /// `nil` when there is no such account, or it was erased.
    func standing(of account: AccountID, app: ClientID) async throws -> AccountStanding?

    func grants(of account: AccountID) async throws -> [GrantRecord]

    func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord?

    /// The account of the youngest line of a client that came with a Google account; `nil` when there is
    /// none.
    func account(linkedWith googleSubject: String, for client: OAuthClientID) async throws -> AccountID?

    /// The account of an app with this verified address that is not known as a private relay address. An
    /// account that a Google account has made is never found by its address, but counts.
    ///
    /// - Returns: `nil` when none has it, or several of the team have, whatever their apps.
    func account(withVerifiedEmail email: String, app: ClientID, team: TeamID) async throws -> AccountID?

    func isDisabled(googleSubject: String) async throws -> Bool

    /// Claims deliveries that are due, the longest waiting first, and counts the attempt. From `leaseUntil`
    /// on another claimer gets them.
    func claimDeliveries(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [SecurityEventDelivery]

    /// Ends a claim: tries again at `nextAttemptAt`.
    func postponeDelivery(_ id: UniqueID, until nextAttemptAt: Moment) async throws

    /// Ends a claim: it was accepted, or is given up.
    func removeDelivery(_ id: UniqueID) async throws

    func nextDeliveryDue() async throws -> Moment?

    /// Forgets codes a day past their expiry, lines past theirs, paces of new grants after an hour, and what
    /// Google said longer than 30 days ago, but for Google accounts that are disabled; a bounded number of
    /// each at once. Returns how many.
    func purgeGrants(at moment: Moment) async throws -> Int

    /// The signing keys, the newest first. Sealed; see `SigningKeyRecord`.
    func signingKeys() async throws -> [SigningKeyRecord]

    /// Keeps the key unless there is one of this algorithm that was made at or after `notAfter`, and returns
    /// all that are kept. If several replicas offer a key at once, one key is stored.
    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]

    func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int

    /// Puts another sealed private key in the place of this one. Returns `false` when it has changed since it
    /// was read, or is gone.
    func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool
}

/// The result of a batch of grant commands.
public struct GrantCommitResult: Sendable {
    /// One for each command, in their order.
    public let results: [Result<GrantOutcome, any Error>]
    /// The sequence number of the last account event of the batch; `nil` when it made none.
    public let lastEventSequence: Int64?

    public init(results: [Result<GrantOutcome, any Error>], lastEventSequence: Int64?) {
        (self.results, self.lastEventSequence) = (results, lastEventSequence)
    }
}

/// A key that signs tokens of this service, as it is kept.
public struct SigningKeyRecord: Sendable, Hashable {
    /// RFC 7638 thumbprint of the public key: the `kid`.
    public let keyID: String
    /// "ES256" or "RS256".
    public let algorithm: String
    /// The private key (PKCS #8), sealed for its `keyID`.
    public var sealed: SealedSecret
    /// The public key as a JWK, UTF-8.
    public let publicKey: [UInt8]
    public let createdAt: Moment
    /// From then on it signs. Before that it is only published, so that verifiers know it.
    public let signsFrom: Moment
    /// From then on it is not published any more.
    public let retiresAt: Moment

    public init(
        keyID: String, algorithm: String, sealed: SealedSecret, publicKey: [UInt8], createdAt: Moment,
        signsFrom: Moment, retiresAt: Moment
    ) {
        self.keyID = keyID
        self.algorithm = algorithm
        self.sealed = sealed
        self.publicKey = publicKey
        self.createdAt = createdAt
        self.signsFrom = signsFrom
        self.retiresAt = retiresAt
    }
}
