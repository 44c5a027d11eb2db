/// Apple refused a refresh token with `invalid_grant` at a daily check.
public struct RejectionCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// The client ID that the token was issued to.
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let tokenID: UniqueID
    /// When Apple was asked, by our clock.
    public let moment: Moment

    public init(
        key: SubjectKey, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        tokenID: UniqueID, moment: Moment
    ) {
        self.key = key
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.tokenID = tokenID
        self.moment = moment
    }
}
