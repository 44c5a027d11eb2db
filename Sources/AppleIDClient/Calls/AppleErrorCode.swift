/// The `error` of an OAuth error response (RFC 6749 §5.2).
public enum AppleErrorCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    /// The client secret is not accepted: wrong team, key or client ID, a revoked key, or a clock that is
    /// off.
    case invalidClient = "invalid_client"
    /// The code or token is unknown, used, expired, revoked, or was issued to another client.
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    /// Any other value.
    case other
}
