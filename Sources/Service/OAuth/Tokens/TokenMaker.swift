import AppleAccounts
import AuthorizationServer
import Cryptography
import JOSE

/// Makes the tokens of a response, after the store has returned their contents.
struct TokenMaker: Sendable {
    /// Seconds. A client reads an ID token when it arrives.
    static let idTokenLifetime: Int64 = 3600

    let server: OAuthServer

    /// Makes a refresh token for a new token family.
    static func newRefreshToken(familyID: UniqueID) -> RefreshTokenText {
        RefreshTokenText(
            familyID: familyID, familySecret: SecureRandom.bytes(count: RefreshTokenText.familySecretSize),
            generation: 0, secret: SecureRandom.bytes(count: RefreshTokenText.secretSize))
    }

    /// Checks that the tokens of a request can be signed.
    ///
    /// - Throws: `SigningKeysShut`, `StorageError`, `JOSEError`.
    func requireKeys(for request: TokenRequest) async throws {
        let (client, keys) = (request.client, server.dependencies.keys)
        let givesIDToken: Bool
        switch request.grant {
        case .assertion(let grant) where grant.intent == .check: return
        case .refreshToken, .assertion: givesIDToken = false
        case .authorizationCode, .exchange, .device: givesIDToken = client.scopes.contains(.openID)
        }
        try await keys.requireKey(client.accessTokenAlgorithm.signature)
        if givesIDToken { try await keys.requireKey(client.idTokenAlgorithm.signature) }
    }

    /// - Parameters:
    ///   - refreshToken: Is in the response only if the store has stored it.
    ///   - givesIDToken: `true` if the scope `openid` yields an ID token.
    /// - Throws: `StorageError`, `SigningKeysShut`, `JOSEError`.
    func response(
        for issued: IssuedTokens, client: OAuthClient, refreshToken: RefreshTokenText?,
        givesIDToken: Bool, at moment: Moment
    ) async throws -> TokenResponse {
        let issuedAt = moment.milliseconds / 1000
        // No token of a token family is valid past the family's end, so none has a later expiry.
        let lifetime = max(
            min(client.lifetimes.accessToken, issued.family.expiresAt.milliseconds / 1000 - issuedAt), 1)
        let issuer = server.settings.issuer.text
        let authenticatedAt = issued.family.authenticatedAt.milliseconds / 1000
        let accessToken = AccessToken(
            issuer: issuer, audience: client.audience, accountID: issued.account.id, clientID: client.id,
            familyID: issued.family.id, random: SecureRandom.bytes(count: AccessToken.randomSize),
            scope: issued.scope, issuedAt: issuedAt, expiresAt: issuedAt + lifetime,
            authenticatedAt: authenticatedAt)
        let accessText = try accessToken.signed(
            with: try await server.dependencies.keys.signingKey(client.accessTokenAlgorithm.signature))
        var idText: String?
        if givesIDToken, ScopeSet(parsing: issued.scope)?.contains(.openID) ?? false {
            let idToken = IDToken(
                issuer: issuer, clientID: client.id, account: issued.account, scope: issued.scope,
                nonce: issued.nonce, accessToken: accessText, issuedAt: issuedAt,
                expiresAt: issuedAt + Self.idTokenLifetime, authenticatedAt: authenticatedAt)
            idText = try idToken.signed(
                with: try await server.dependencies.keys.signingKey(client.idTokenAlgorithm.signature))
        }
        return TokenResponse(
            accessToken: accessText, expiresIn: lifetime,
            refreshToken: issued.hasNewRefreshToken ? refreshToken?.text : nil, scope: issued.scope,
            idToken: idText)
    }

    /// Returns the end of a token family whose refresh token is not used again.
    ///
    /// - Parameter isNew: `true` if the family begins at this moment. For an older family the store knows the
    ///   end that counts from its beginning.
    static func lineEnd(of client: OAuthClient, usedAt now: Moment, isNew: Bool) -> Moment {
        let lifetimes = client.lifetimes
        let idle = lifetimes.refreshTokenIdle.map { now.advanced(byMilliseconds: $0 * 1000) } ?? .last
        guard isNew, let absolute = lifetimes.refreshTokenAbsolute else { return idle }
        return min(idle, now.advanced(byMilliseconds: absolute * 1000))
    }
}
