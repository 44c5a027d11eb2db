/// An authorization code that waits for its exchange.
public struct AuthorizationCodeRecord: Sendable, Hashable {
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that the code was issued to.
    public let clientID: ClientID
    /// Primary client ID of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    public let redirectURI: String?
    public let sealed: SealedSecret
    /// Authorization time of the identity token that came with the code.
    public let authorizedAt: Moment
    /// Time at which the sign-in brought the code: since then its exchange has been due.
    public let receivedAt: Moment
    public let expiresAt: Moment
    /// Number of claims.
    public var attempts: Int64
    /// Time from which it may be claimed. During a claim: the time at which the claim ends by itself.
    public var nextAttemptAt: Moment
    /// Indicates a claim: a worker took the code and has not reported the result.
    public var isClaimed: Bool

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        redirectURI: String? = nil, sealed: SealedSecret, authorizedAt: Moment, receivedAt: Moment,
        expiresAt: Moment, attempts: Int64 = 0, nextAttemptAt: Moment, isClaimed: Bool = false
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.redirectURI = redirectURI
        self.sealed = sealed
        self.authorizedAt = authorizedAt
        self.receivedAt = receivedAt
        self.expiresAt = expiresAt
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.isClaimed = isClaimed
    }
}

/// An authorization code, claimed: until the claim ends, only this caller exchanges it.
public struct ClaimedCode: Sendable, Hashable {
    public let record: AuthorizationCodeRecord
    public let key: SubjectKey
    /// Indicates that an earlier claim ended without a result. The code may have been sent to Apple, and the
    /// response was lost.
    public let isInterrupted: Bool

    public init(record: AuthorizationCodeRecord, key: SubjectKey, isInterrupted: Bool) {
        (self.record, self.key, self.isInterrupted) = (record, key, isInterrupted)
    }
}
