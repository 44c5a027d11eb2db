/// The codes and tokens of one account.
public struct AccountGrants: Sendable, Hashable {
    public var codes: [AuthorizationCodeRecord]
    public var tokens: [RefreshTokenRecord]

    public init(codes: [AuthorizationCodeRecord] = [], tokens: [RefreshTokenRecord] = []) {
        (self.codes, self.tokens) = (codes, tokens)
    }

    /// What a caller is told of an app; `nil` when there is neither a code nor a token.
    func status(of clientID: ClientID) -> RefreshTokenStatus? {
        if tokens.contains(where: { $0.primaryClientID == clientID }) { return .held }
        if codes.contains(where: { $0.primaryClientID == clientID }) { return .pending }
        return nil
    }
}
