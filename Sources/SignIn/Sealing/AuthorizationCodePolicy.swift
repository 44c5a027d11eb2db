import AppleAccounts

/// Decides whether an authorization code is kept, sealed by the store, until it is exchanged.
struct AuthorizationCodePolicy: Sendable {
    /// Whether there is a key to seal with.
    let canSeal: Bool
    let canSign: @Sendable (TeamID) -> Bool

    enum Decision {
        case keep(AuthorizationCodeOffer)
        case leave(RefreshTokenCause)
    }

    /// - Parameters:
    ///   - clientID: The `aud` of the identity token that the code came with, and is bound to by `c_hash`.
    ///   - now: When it was posted.
    func decide(
        on code: String, clientID: ClientID, redirectURI: String?, team: TeamID, at now: Moment
    ) -> Decision {
        guard canSeal else { return .leave(.noSealingKey) }
        // Without a signing key it could not be exchanged before it expires.
        guard canSign(team) else { return .leave(.noSigningKey) }
        guard let secret = GrantSecret(code) else { return .leave(.codeRejected) }
        var generator = SystemRandomNumberGenerator()
        return .keep(
            AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: redirectURI,
                expiresAt: now.advanced(byMilliseconds: ExchangeAttempt.codeLifetime), secret: secret))
    }
}
