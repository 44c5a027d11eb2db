import AppleAccounts

/// Decides if an Apple code is kept, sealed by the store, until it is exchanged.
struct AuthorizationCodePolicy: Sendable {
    /// True if there is a key to seal with.
    let canSeal: Bool
    let canSign: @Sendable (TeamID) -> Bool

    enum Decision {
        case keep(AuthorizationCodeOffer)
        case leave(RefreshTokenCause)
    }

    /// - Parameters:
    ///   - clientID: The `aud` of the identity token to which `c_hash` binds the code.
    ///   - now: Time at which the code was posted.
    func decide(
        on code: String, clientID: ClientID, redirectURI: String?, team: TeamID, at now: Moment
    ) -> Decision {
        guard canSeal else { return .leave(.noSealingKey) }
        // Without a signing key the code could not be exchanged before it expires.
        guard canSign(team) else { return .leave(.noSigningKey) }
        guard let secret = AppleTokenSecret(code) else { return .leave(.codeRejected) }
        var generator = SystemRandomNumberGenerator()
        return .keep(
            AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: redirectURI,
                expiresAt: now.advanced(byMilliseconds: ExchangeAttempt.codeLifetime), secret: secret))
    }
}
