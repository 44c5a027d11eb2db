public import EmulatorServer
import Synchronization

extension EmulatorState {
    /// Authenticates the client with `client_id` and `client_secret` of the form. Throws `invalid_request`
    /// and `invalid_client`.
    func authenticate(
        _ form: FormFields, includingFormerTeam: Bool
    ) throws(OAuthError) -> (clientID: String, teamID: String) {
        guard let clientID = form["client_id"] else {
            throw OAuthError(.invalidRequest, "client_id is missing")
        }
        guard let text = form["client_secret"] else {
            throw OAuthError(.invalidRequest, "client_secret is missing")
        }
        // The signature is verified outside the lock, because it takes longest.
        let (teamIDs, keys, now) = world.withLock { world in
            let now = clock.now() + world.clockOffset
            return (
                world.teams(actingFor: clientID, includingFormer: includingFormerTeam, at: now),
                world.clientKeys, now
            )
        }
        guard !teamIDs.isEmpty else { throw OAuthError(.invalidClient, "client_id is unknown") }
        let check = ClientSecretCheck(clientID: clientID, teamIDs: teamIDs, keys: keys, now: now / 1000)
        return (clientID, try check.check(ClientSecret(text)))
    }

    func exchange(_ code: String, clientID: String, redirectURI: String?) throws(OAuthError) -> TokenBasis {
        try world.withLock { world throws(OAuthError) in
            try world.exchange(
                code, clientID: clientID, redirectURI: redirectURI,
                lifetime: configuration.codeLifetime * 1000, now: clock.now() + world.clockOffset)
        }
    }

    func refresh(_ token: String, clientID: String) throws(OAuthError) -> TokenBasis {
        try world.withLock { world throws(OAuthError) in
            try world.refresh(
                token, clientID: clientID, interval: configuration.refreshInterval * 1000,
                now: clock.now() + world.clockOffset)
        }
    }

    func grantMigration(teamID: String, clientID: String) -> String {
        world.withLock {
            $0.grantMigration(teamID: teamID, clientID: clientID, now: clock.now() + $0.clockOffset)
        }
    }

    func revoke(_ token: String, clientID: String) {
        world.withLock { $0.revoke(token, clientID: clientID) }
    }

    /// Changes a user's password: all refresh tokens of the user become invalid, the consents stay, and no
    /// notification is sent.
    ///
    /// Throws `.userNotFound`.
    public func changePassword(of subject: String?) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            let position = try world.users.find(subject).position
            world.grants.end { $0.position == position }
        }
    }

    /// Returns the valid codes and tokens of a user, and the number of requests for them. Throws
    /// `.userNotFound`.
    public func grants(of subject: String?) throws(EmulatorError) -> [UserGrants] {
        try world.withLock { world throws(EmulatorError) in
            let position = try world.users.find(subject).position
            return world.apps.flatMap { app in
                let consent = Consent(position: position, app: app.primaryClientID)
                return app.clientIDs.map { clientID in
                    let usage = world.grants.usage(of: consent, clientID: clientID)
                    return UserGrants(
                        clientID: clientID, codes: world.grants.codes(of: consent, clientID: clientID),
                        refreshTokens: world.grants.refreshTokens(of: consent, clientID: clientID),
                        exchanges: usage.exchanges, refreshes: usage.refreshes, throttled: usage.throttled)
                }
            }
        }
    }

    /// Signs the identity token for a response of `/auth/token`.
    func identityToken(of basis: TokenBasis) throws(EmulatorError) -> String {
        let issuedAt = basis.now / 1000
        let claims = IdentityTokenClaims(
            basis: basis.identity, nonce: basis.authorization.nonce, authorizationCode: nil,
            accessToken: basis.accessToken, issuedAt: issuedAt, expiresAt: issuedAt + TokenTimes().lifetime,
            authenticatedAt: basis.authorization.authenticatedAt)
        return try sign(claims.object, with: basis.identity.keys, forgery: Forgery())
    }
}

/// The codes and tokens of one user for one client ID, and the number of requests since the start or the last
/// reset of the counters.
public struct UserGrants: Sendable, Equatable {
    public let clientID: String
    /// Codes that have not been exchanged, including expired codes.
    public let codes: Int
    /// Valid refresh tokens.
    public let refreshTokens: Int
    /// Codes exchanged.
    public let exchanges: Int
    /// Successful validations of refresh tokens.
    public let refreshes: Int
    /// Throttled validations of refresh tokens.
    public let throttled: Int
}
