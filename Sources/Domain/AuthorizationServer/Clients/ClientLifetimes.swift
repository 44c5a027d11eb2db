/// Lifetimes of the codes and tokens of a client, in seconds. Bounds and defaults are in `ClientMember` and
/// `ClientKind`.
public struct ClientLifetimes: Sendable, Hashable {
    /// Lifetime of an authorization code (RFC 6749 §4.1.2: at most ten minutes).
    public let code: Int64
    /// Lifetime of an access token. A resource server that does not use introspection accepts the token for
    /// this long after its grant has ended.
    public let accessToken: Int64
    /// Lifetime of a refresh token since its last use. `nil` is for ever.
    public let refreshTokenIdle: Int64?
    /// Lifetime of a refresh token and all its successors since the code was redeemed. `nil` is for ever.
    public let refreshTokenAbsolute: Int64?

    public init(
        code: Int64, accessToken: Int64, refreshTokenIdle: Int64?, refreshTokenAbsolute: Int64?
    ) {
        self.code = code
        self.accessToken = accessToken
        self.refreshTokenIdle = refreshTokenIdle
        self.refreshTokenAbsolute = refreshTokenAbsolute
    }
}
