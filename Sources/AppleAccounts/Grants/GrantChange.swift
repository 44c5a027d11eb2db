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
