/// An authorization code that waits for its exchange.
public struct AuthorizationCodeRecord: Sendable, Hashable {
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that it was issued to.
    public let clientID: ClientID
    /// Of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    public let redirectURI: String?
    public let sealed: SealedSecret
    /// Of the identity token that it came with.
    public let authorizedAt: Moment
    public let expiresAt: Moment
    /// How often it has been claimed.
    public var attempts: Int64
    /// When it may be claimed: while it is claimed, when that claim ends by itself.
    public var nextAttemptAt: Moment
    /// Whether it is claimed: a worker took it and has not reported the result.
    public var isClaimed: Bool

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        redirectURI: String? = nil, sealed: SealedSecret, authorizedAt: Moment, expiresAt: Moment,
        attempts: Int64 = 0, nextAttemptAt: Moment, isClaimed: Bool = false
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.redirectURI = redirectURI
        self.sealed = sealed
        self.authorizedAt = authorizedAt
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
    /// Whether an earlier claim ended without a result. The code may have been sent to Apple then, and the
    /// response is lost.
    public let isInterrupted: Bool

    public init(record: AuthorizationCodeRecord, key: SubjectKey, isInterrupted: Bool) {
        (self.record, self.key, self.isInterrupted) = (record, key, isInterrupted)
    }
}
