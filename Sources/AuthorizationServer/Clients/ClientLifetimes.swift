/// Lifetimes of the codes and tokens of a client, in seconds.
public struct ClientLifetimes: Sendable, Hashable {
    /// Lifetime of an authorization code: 1 to 600 seconds, 600 by default (RFC 6749 §4.1.2: at most ten
    /// minutes).
    public var code: Int64
    /// Lifetime of an access token: one second to 24 hours, one hour by default. A resource server that does
    /// not use introspection accepts the token for this long after its grant has ended.
    public var accessToken: Int64
    /// Lifetime of a refresh token since its last use: one second to ten years. `nil` is for ever.
    public var refreshTokenIdle: Int64?
    /// Lifetime of a refresh token and all its successors since the code was redeemed: one second to ten
    /// years. `nil` is for ever.
    public var refreshTokenAbsolute: Int64?

    public static let codeBounds: ClosedRange<Int64> = 1...600
    public static let accessTokenBounds: ClosedRange<Int64> = 1...86_400
    public static let refreshTokenBounds: ClosedRange<Int64> = 1...315_360_000

    public init(
        code: Int64 = 600, accessToken: Int64 = 3600, refreshTokenIdle: Int64? = nil,
        refreshTokenAbsolute: Int64? = nil
    ) {
        self.code = code
        self.accessToken = accessToken
        self.refreshTokenIdle = refreshTokenIdle
        self.refreshTokenAbsolute = refreshTokenAbsolute
    }

    /// Returns the lifetimes that hold where the configuration has none. Google expects refresh tokens that
    /// do not expire; refresh tokens of other clients end after half a year without use, so that a forgotten
    /// installation does not stay signed in.
    public static func defaults(for kind: ClientKind.Name) -> ClientLifetimes {
        switch kind {
        case .googleLinking: ClientLifetimes()
        case .web, .native: ClientLifetimes(refreshTokenIdle: 15_552_000)
        }
    }
}
