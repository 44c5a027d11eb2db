import AuthorizationServer
import SecurityEvents

/// The kinds of token and code that this service issues.
package enum IssuedTokenKind: String, Sendable, CaseIterable {
    case accessToken = "access-token"
    case idToken = "id-token"
    case refreshToken = "refresh-token"
    /// A report to Google about an ended token.
    case securityEvent = "security-event"
    case authorizationCode = "authorization-code"
    case deviceCode = "device-code"
    /// The code that a device shows to its user.
    case userCode = "user-code"

    /// The checks, in their order.
    package var checks: [IssuedTokenCheck] {
        switch self {
        case .accessToken:
            [.form, .type, .key, .signature, .claims, .issuer, .audience, .expiration, .family]
        case .idToken:
            [
                .form, .type, .key, .signature, .claims, .issuer, .audience, .expiration, .nonce,
                .accessTokenHash,
            ]
        case .refreshToken: [.form, .family]
        case .authorizationCode, .deviceCode, .userCode: [.form, .code]
        case .securityEvent: [.form, .type, .key, .signature, .claims, .issuer, .audience]
        }
    }

    /// The `typ` of the header, in lower case. `nil` for a token without a header.
    var type: String? {
        switch self {
        case .accessToken: AccessToken.type.description.lowercased()
        case .idToken: IDToken.type.description.lowercased()
        case .refreshToken, .authorizationCode, .deviceCode, .userCode: nil
        case .securityEvent: SecurityEventToken.type.description.lowercased()
        }
    }

    /// The claims that must be present.
    var claims: [String] {
        switch self {
        case .accessToken:
            ["iss", "sub", "aud", "client_id", "iat", "exp", "auth_time", "jti", "scope"]
        case .idToken: ["iss", "sub", "aud", "iat", "exp", "auth_time", "at_hash"]
        case .refreshToken, .authorizationCode, .deviceCode, .userCode: []
        case .securityEvent: ["iss", "aud", "iat", "jti", "events"]
        }
    }

    /// True for a text that is not signed and names no issuer.
    package var isOpaque: Bool { type == nil }
}
