/// The codes and tokens of one account.
public struct AccountGrants: Sendable, Hashable {
    public var codes: [AuthorizationCodeRecord]
    public var tokens: [RefreshTokenRecord]

    public init(codes: [AuthorizationCodeRecord] = [], tokens: [RefreshTokenRecord] = []) {
        (self.codes, self.tokens) = (codes, tokens)
    }

    /// The status for one app; `nil` when there is neither a code nor a token.
    func status(of clientID: ClientID) -> RefreshTokenStatus? {
        if tokens.contains(where: { $0.primaryClientID == clientID }) { return .held }
        if codes.contains(where: { $0.primaryClientID == clientID }) { return .pending }
        return nil
    }
}

/// What a store has to do with its codes and tokens at the end of a batch, in this order.
public enum GrantChange: Sendable, Hashable {
    /// Does nothing when there is one of that ID: a command that was repeated.
    case insertCode(AuthorizationCodeRecord)
    case removeCode(UniqueID)
    /// Replaces that of the same account and client ID.
    case putToken(RefreshTokenRecord)
    case removeToken(AccountID, ClientID)
    /// Codes and tokens of all client IDs.
    case removeAll(AccountID)
}
