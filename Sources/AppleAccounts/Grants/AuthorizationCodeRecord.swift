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
    /// Whether somebody has claimed it and has not said how that ended.
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
