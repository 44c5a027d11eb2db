/// The end of the exchange of a code.
public struct ExchangeCommand: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
        /// - Parameter authorizedAt: Authorization time of the identity token that came with the code.
        case token(SealedSecret, tokenID: UniqueID, authorizedAt: Moment, nextCheckAt: Moment)
        case unavailable(RefreshTokenCause)
    }

    public let codeID: UniqueID
    public let key: SubjectKey
    public let accountID: AccountID
    /// The client ID that the code was issued to.
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let outcome: Outcome
    /// By our clock.
    public let receivedAt: Moment

    public init(
        codeID: UniqueID, key: SubjectKey, accountID: AccountID, clientID: ClientID,
        primaryClientID: ClientID, outcome: Outcome, receivedAt: Moment
    ) {
        self.codeID = codeID
        self.key = key
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.outcome = outcome
        self.receivedAt = receivedAt
    }
}

/// The result of an exchange.
public enum ExchangeReceipt: Sendable, Hashable {
    /// The token is held.
    case kept
    /// The same token, or a token of a later authorization, was already held.
    case superseded
    /// The credential was revoked after the token's authorization. The token is not kept.
    case dropped
    /// There was no token, and the code is gone.
    case unavailable
}
