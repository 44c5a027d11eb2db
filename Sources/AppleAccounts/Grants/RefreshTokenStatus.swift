/// Whether this service can speak to Apple for a person in an app.
public enum RefreshTokenStatus: Sendable, Hashable {
    /// A refresh token is held. It stays so while a newer code is being exchanged.
    case held
    /// A code waits for its exchange.
    case pending
    case unavailable(RefreshTokenCause)

    /// Whether a store may have a code or a token for it. Without, nobody has to look.
    public var mayHaveGrants: Bool {
        switch self {
        case .held, .pending: true
        case .unavailable: false
        }
    }
}
