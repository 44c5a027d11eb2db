/// State of the refresh token with which this service acts at Apple for a user in an app.
public enum RefreshTokenStatus: Sendable, Hashable {
    /// A refresh token is held, also while a newer code is being exchanged.
    case held
    /// A code waits for its exchange.
    case pending
    case unavailable(RefreshTokenCause)

    /// Indicates that a store may have a code or a token. Otherwise no look-up is needed.
    public var mayHaveAppleTokens: Bool {
        switch self {
        case .held, .pending: true
        case .unavailable: false
        }
    }
}

/// Reason for a missing refresh token although a code came. The raw values are the words on the wire.
public enum RefreshTokenCause: String, Sendable, Hashable, CaseIterable {
    /// Nothing is stored in the clear, and there is no key to seal with.
    case noSealingKey = "no_sealing_key"
    /// No private key is configured for the team, so no request to Apple is possible.
    case noSigningKey = "no_signing_key"
    /// Apple responded with `invalid_grant`: the code was used, or is not one of ours.
    case codeRejected = "code_rejected"
    /// Its five minutes passed while Apple was out of reach.
    case codeExpired = "code_expired"
    /// A request was sent to Apple and the response was lost. A code that may have been used is never sent
    /// again.
    case exchangeUncertain = "exchange_uncertain"
    /// Apple refused the client secret or the client ID.
    case clientRejected = "client_rejected"
    /// The identity token of the exchange names another user.
    case identityMismatch = "identity_mismatch"
    /// Apple refused the refresh token at a daily check.
    case rejected
    /// Dropped when the credential was revoked.
    case credentialRevoked = "credential_revoked"
    /// Belonged to the team that the account was transferred from.
    case transferred
    /// Could not be opened with any of the keys.
    case sealedUnreadable = "sealed_unreadable"
}
