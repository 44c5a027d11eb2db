/// The grant types of `/auth/token` (RFC 6749 §4.1.3, §6, §4.4.2).
enum GrantType: String, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
}
