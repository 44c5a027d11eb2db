/// The refusal of a refresh token: Apple responded to a daily check with `invalid_grant`.
public struct RejectionCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// The client ID that the token was issued to.
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let tokenID: UniqueID
    /// Time of the request to Apple, by our clock.
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

/// The result of a refused refresh token.
public enum RejectionReceipt: Sendable, Hashable {
    /// The credential is revoked from this moment on, and its tokens are gone.
    case revoked
    /// The token is gone. Its authorization had been revoked before, so the refusal changes no state.
    case dropped
    /// The refused token is not the token that is held, so the credential does not change.
    case ignored
}
