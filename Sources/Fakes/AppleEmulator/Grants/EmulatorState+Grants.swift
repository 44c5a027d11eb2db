public import EmulatorServer
import Synchronization

extension EmulatorState {
    /// Authenticates the client with the form's `client_id` and `client_secret`. Throws `invalid_request` and
    /// `invalid_client`.
    func authenticate(
        _ form: FormFields, includingFormerTeam: Bool
    ) throws(OAuthError) -> (clientID: String, teamID: String) {
        guard let clientID = form["client_id"] else {
            throw OAuthError(.invalidRequest, "client_id is missing")
        }
        guard let text = form["client_secret"] else {
            throw OAuthError(.invalidRequest, "client_secret is missing")
        }
        // The signature is verified outside the lock, because verification is the slowest step.
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

    /// Changes a user's password. All the user's refresh tokens become invalid, the consents remain, and no
    /// notification is sent.
    ///
    /// Throws `.userNotFound`.
    public func changePassword(of subject: String?) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            let position = try world.users.find(subject).position
            world.grants.end { $0.position == position }
        }
    }

    /// Returns the numbers of a user's codes and tokens, and the number of requests for them. Throws
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

    /// Signs the identity token for a `/auth/token` response.
    func identityToken(of basis: TokenBasis) async throws(EmulatorError) -> String {
        let issuedAt = basis.now / 1000
        let claims = IdentityTokenClaims(
            basis: basis.identity, nonce: basis.authorization.nonce, authorizationCode: nil,
            accessToken: basis.accessToken, issuedAt: issuedAt, expiresAt: issuedAt + TokenTimes().lifetime,
            authenticatedAt: basis.authorization.authenticatedAt)
        return try await sign(claims.object, with: basis.identity.keys, forgery: Forgery())
    }
}

/// One user's codes and tokens for one client ID, and the number of requests since startup or since the
/// counters were last reset.
public struct UserGrants: Sendable, Equatable {
    public let clientID: String
    /// Number of codes that have not been exchanged, including expired codes.
    public let codes: Int
    /// Number of valid refresh tokens.
    public let refreshTokens: Int
    /// Number of exchanged codes.
    public let exchanges: Int
    /// Number of successful refresh token validations.
    public let refreshes: Int
    /// Number of throttled refresh token validations.
    public let throttled: Int
}

/// The three grant types of `/auth/token`, and `/auth/revoke`.
extension EmulatedWorld {
    /// Exchanges a code for tokens. Throws `invalid_grant` if the code cannot be redeemed or the user's
    /// consent has ended, and `server_error` if there is no signing key.
    mutating func exchange(
        _ code: String, clientID: String, redirectURI: String?, lifetime: Int64, now: Int64
    ) throws(OAuthError) -> TokenBasis {
        let keys = try grantKeys()
        let authorization = try grants.redeemCode(
            code, clientID: clientID, redirectURI: redirectURI, lifetime: lifetime, now: now)
        try requireConsent(authorization.consent)
        let tokens = grants.issueTokens(for: authorization, at: now)
        counters.exchanges += 1
        return basis(authorization, keys: keys, access: tokens.access, refresh: tokens.refresh, now: now)
    }

    /// Validates a refresh token. Throws `invalid_grant` if the token is not valid or the user's consent has
    /// ended, `throttled` within `interval` milliseconds of the last validation, and `server_error` if there
    /// is no signing key.
    mutating func refresh(
        _ token: String, clientID: String, interval: Int64, now: Int64
    ) throws(OAuthError) -> TokenBasis {
        let keys = try grantKeys()
        let authorization: Authorization
        do throws(OAuthError) {
            authorization = try grants.refresh(token, clientID: clientID, interval: interval, now: now)
        } catch {
            if error.code == .throttled { counters.refreshesThrottled += 1 }
            throw error
        }
        try requireConsent(authorization.consent)
        counters.refreshes += 1
        let access = grants.issueAccessToken(for: authorization, at: now)
        return basis(authorization, keys: keys, access: access, refresh: nil, now: now)
    }

    mutating func grantMigration(teamID: String, clientID: String, now: Int64) -> String {
        counters.migrationGrants += 1
        return grants.issueMigrationToken(teamID: teamID, clientID: clientID, at: now)
    }

    /// Revokes a token. If the token is known, this ends the user's consent to the app and all tokens for the
    /// app. An unknown token changes nothing, but gets the same response.
    mutating func revoke(_ token: String, clientID: String) {
        guard let consent = grants.consent(of: token, clientID: clientID) else { return }
        endConsent(consent)
        counters.revocations += 1
    }

    mutating func endConsent(_ consent: Consent) {
        grants.end(consent)
        users[consent.position].apps.remove(consent.app)
        users[consent.position].emailWithheldFrom.remove(consent.app)
    }

    /// Stores a code only if its client ID is configured, so that codes for invented client IDs cannot fill
    /// the memory.
    mutating func issueCode(
        _ secret: String, to position: Int, clientID: String, nonce: String?, redirectURI: String?,
        authenticatedAt: Int64, now: Int64, isFromWeb: Bool? = nil
    ) {
        guard let app = app(of: clientID), !secret.isEmpty else { return }
        let authorization = Authorization(
            consent: Consent(position: position, app: app.primaryClientID), clientID: clientID, nonce: nonce,
            authenticatedAt: authenticatedAt,
            isFromWeb: isFromWeb ?? (redirectURI != nil || isForWebOnly(clientID)))
        grants.issue(
            IssuedCode(authorization: authorization, redirectURI: redirectURI, issuedAt: now), as: secret)
    }

    private func requireConsent(_ consent: Consent) throws(OAuthError) {
        guard users[consent.position].apps.contains(consent.app) else {
            throw OAuthError(.invalidGrant, "the user no longer uses the app")
        }
    }

    private func grantKeys() throws(OAuthError) -> SigningKeys {
        guard let key = try? keys.signingKey() else {
            throw OAuthError(.serverError, "every signing key is retired")
        }
        return SigningKeys(key: key, other: nil)
    }

    private mutating func basis(
        _ authorization: Authorization, keys: SigningKeys, access: String, refresh: String?, now: Int64
    ) -> TokenBasis {
        let position = authorization.consent.position
        let app = app(of: authorization.clientID) ?? apps[0]
        let user = users[position]
        let identity = IdentityTokenBasis(
            user: user, identity: user.identity(for: app.teamID), clientID: authorization.clientID,
            isFirstAuthorization: false, sharesEmail: !user.emailWithheldFrom.contains(app.primaryClientID),
            isFromWeb: authorization.isFromWeb ?? isForWebOnly(authorization.clientID),
            transferSubject: transferSubject(
                ofTokenFor: position, clientID: authorization.clientID, at: now),
            keys: keys)
        return TokenBasis(
            identity: identity, authorization: authorization, accessToken: access, refreshToken: refresh,
            now: now)
    }
}

/// The data for a `/auth/token` response, read under one lock, so that signing needs no lock.
struct TokenBasis {
    let identity: IdentityTokenBasis
    let authorization: Authorization
    let accessToken: String
    /// Refresh token; `nil` in the response to a refresh token validation.
    let refreshToken: String?
    /// Current time in milliseconds since 1970.
    let now: Int64
}
