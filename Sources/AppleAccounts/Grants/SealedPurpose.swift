/// What a sealed secret is. The raw values are part of what it was sealed with and never change.
public enum SealedPurpose: String, Sendable, Hashable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
}
