/// The refresh token that is held for an account and one client ID: the newest received.
public struct RefreshTokenRecord: Sendable, Hashable {
    /// Distinguishes this token from earlier and later tokens.
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that the token was issued to. Apple accepts the token from no other client.
    public let clientID: ClientID
    /// Primary client ID of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    public var sealed: SealedSecret
    /// Authorization time of the identity token that came with its code.
    public let authorizedAt: Moment
    public var nextCheckAt: Moment
    /// Time since which a check has been due and none has succeeded. `nil` unless the last check has failed.
    public var uncheckedSince: Moment?

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        sealed: SealedSecret, authorizedAt: Moment, nextCheckAt: Moment, uncheckedSince: Moment? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.sealed = sealed
        self.authorizedAt = authorizedAt
        self.nextCheckAt = nextCheckAt
        self.uncheckedSince = uncheckedSince
    }

    /// Returns true if this token replaces the other. The ID only makes the order total, so that the same
    /// token stays in any order of arrival.
    func isNewer(than other: RefreshTokenRecord) -> Bool {
        (other.authorizedAt, other.id) < (authorizedAt, id)
    }
}
