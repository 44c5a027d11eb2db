/// What became of the result of an exchange.
public enum ExchangeReceipt: Sendable, Hashable {
    /// The token is held.
    case kept
    /// A token of a later authorization, or this very one, was held already.
    case superseded
    /// The credential was revoked after the token's authorization: it is not kept.
    case dropped
    /// There was no token, and the code is gone.
    case unavailable
}
