import StrictJSON

/// The tokens of a response of the token endpoint (RFC 6749 §5.1). Bounded, because they are stored.
struct LinkTokens: Sendable, Equatable {
    /// Bytes.
    static let longestToken = 16 * 1024
    /// Bytes.
    static let longestScope = 2048

    let accessToken: String
    let refreshToken: String?
    let scope: String?
    /// Seconds. The limit of a century prevents an overflow in the arithmetic with times.
    let lifetime: Int64?

    /// `nil` without an access token, and for values that are too long.
    init?(_ json: JSONValue) {
        guard let token = json["access_token"]?.string, (1...Self.longestToken).contains(token.utf8.count)
        else { return nil }
        (accessToken, refreshToken) = (token, json["refresh_token"]?.string)
        scope = json["scope"]?.string
        lifetime = json["expires_in"]?.integer.map { min(max(0, $0), 3_155_760_000) }
        guard refreshToken?.utf8.count ?? 0 <= Self.longestToken, scope?.utf8.count ?? 0 <= Self.longestScope
        else { return nil }
    }
}

extension AccountLink {
    /// - Parameter now: Seconds since 1970.
    mutating func update(with tokens: LinkTokens, at now: Int64) {
        accessToken = tokens.accessToken
        expiresAt = tokens.lifetime.map { now + $0 }
        refreshToken = tokens.refreshToken ?? refreshToken
        scope = tokens.scope ?? scope
    }
}
