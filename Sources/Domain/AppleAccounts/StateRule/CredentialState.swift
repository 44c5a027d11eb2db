/// State of Apple's credential of one user for one app, in the words of `getCredentialState`.
public enum CredentialState: String, Sendable, Hashable, CaseIterable {
    /// The user may stay signed in.
    case authorized
    /// The user must be signed out.
    case revoked
    /// Never seen with this app.
    case notFound
}

/// Reason of a credential's state.
public enum CredentialReason: String, Sendable, Hashable, CaseIterable {
    case signedIn = "signed_in"
    case consentRevoked = "consent_revoked"
    case appleAccountDeleted = "apple_account_deleted"
    /// Apple refused the refresh token. This also happens after a change of the Apple Account's password.
    case refreshTokenRejected = "refresh_token_rejected"
    /// The account was erased here.
    case erased
}

/// The origin of a fact.
public enum CredentialSource: String, Sendable, Hashable, CaseIterable {
    case signIn = "sign_in"
    case notification
    case dailyCheck = "daily_check"
    case erasure
}
