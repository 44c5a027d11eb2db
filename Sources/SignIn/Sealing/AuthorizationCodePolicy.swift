import AppleAccounts

/// Decides whether an authorization code is kept, sealed, until it is exchanged.
struct AuthorizationCodePolicy: Sendable {
    let sealer: GrantSealer?
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
        guard let sealer else { return .leave(.noSealingKey) }
        // Without a signing key it could not be exchanged before it expires.
        guard canSign(team) else { return .leave(.noSigningKey) }
        guard GrantSealer.isAcceptable(code) else { return .leave(.codeRejected) }
        var generator = SystemRandomNumberGenerator()
        let offer = AuthorizationCodeOffer(
            id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: redirectURI,
            expiresAt: now.advanced(byMilliseconds: ExchangeAttempt.codeLifetime)
        ) { account in
            let sealed = sealer.seal(code, as: .authorizationCode, of: account, clientID: clientID)
            guard let sealed else { preconditionFailure("an acceptable code can be sealed") }
            return sealed
        }
        return .keep(offer)
    }
}
