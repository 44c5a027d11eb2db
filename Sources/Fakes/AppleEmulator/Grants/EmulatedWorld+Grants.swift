/// The three grant types of `/auth/token`, and `/auth/revoke`.
extension EmulatedWorld {
    /// Redeems a code for tokens. Throws `invalid_grant`, and `server_error` when there is no signing key.
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

    /// Validates a refresh token. Throws `invalid_grant`, `throttled`, and `server_error` when there is no
    /// signing key.
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

    /// Revokes a token. A known token ends the user's consent to the app and all tokens for the app. An
    /// unknown token changes nothing; the response is the same.
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

    /// Stores a code if its client ID is configured, so that codes for invented client IDs cannot fill the
    /// memory.
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

/// The data for a response of `/auth/token`, read under one lock, so that signing needs no lock.
struct TokenBasis {
    let identity: IdentityTokenBasis
    let authorization: Authorization
    let accessToken: String
    /// `nil` in the response to a validation of a refresh token.
    let refreshToken: String?
    /// Milliseconds since 1970.
    let now: Int64
}
