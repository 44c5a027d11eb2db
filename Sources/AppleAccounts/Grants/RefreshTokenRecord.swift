/// The refresh token that is held for an account and one client ID: the newest that came.
public struct RefreshTokenRecord: Sendable, Hashable {
    /// Distinguishes this token from those before and after it.
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that it was issued to. Apple takes it from no other.
    public let clientID: ClientID
    /// Of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    public var sealed: SealedSecret
    /// Of the identity token that came with its code.
    public let authorizedAt: Moment
    public var nextCheckAt: Moment

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        sealed: SealedSecret, authorizedAt: Moment, nextCheckAt: Moment
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.sealed = sealed
        self.authorizedAt = authorizedAt
        self.nextCheckAt = nextCheckAt
    }

    /// Whether it replaces the other. The ID only makes the order total, so that the same one stays when they
    /// come in the other order.
    func isNewer(than other: RefreshTokenRecord) -> Bool {
        (other.authorizedAt, other.id) < (authorizedAt, id)
    }
}
