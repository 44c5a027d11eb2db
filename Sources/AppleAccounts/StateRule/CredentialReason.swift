/// Why a credential is in its state.
public enum CredentialReason: String, Sendable, Hashable, CaseIterable {
    case signedIn = "signed_in"
    case consentRevoked = "consent_revoked"
    case appleAccountDeleted = "apple_account_deleted"
    /// Apple refused the refresh token. That also happens after a change of the Apple Account's password.
    case refreshTokenRejected = "refresh_token_rejected"
    /// The account was erased here.
    case erased
}
