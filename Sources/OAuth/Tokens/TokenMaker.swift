import AppleAccounts
import AuthorizationServer
import Cryptography
import JOSE

/// Makes the tokens of an answer, after the store has said what for.
struct TokenMaker: Sendable {
    /// Seconds. A client reads an ID token when it arrives.
    static let idTokenLifetime: Int64 = 3600

    let server: OAuthServer

    /// A refresh token for a new line.
    static func newRefreshToken(lineID: UniqueID) -> RefreshTokenText {
        RefreshTokenText(
            lineID: lineID, lineSecret: SecureRandom.bytes(count: RefreshTokenText.lineSecretSize),
            generation: 0, secret: SecureRandom.bytes(count: RefreshTokenText.secretSize))
    }

    /// - Parameters:
    ///   - refreshToken: Is in the answer only if the store has taken it over.
    ///   - givesIDToken: Whether the scope `openid` brings an ID token.
    /// - Throws: `StorageError`, `JOSEError`.
    func response(
        for issued: IssuedTokens, client: OAuthClient, refreshToken: RefreshTokenText?,
        givesIDToken: Bool, at moment: Moment
    ) async throws -> TokenResponse {
        let issuedAt = moment.milliseconds / 1000
        // Nothing of a line is good past its end, so no token says otherwise.
        let lifetime = max(
            min(client.lifetimes.accessToken, issued.line.expiresAt.milliseconds / 1000 - issuedAt), 1)
        let issuer = server.settings.issuer.text
        let authenticatedAt = issued.line.authenticatedAt.milliseconds / 1000
        let accessToken = AccessToken(
            issuer: issuer, audience: client.audience, accountID: issued.account.id, clientID: client.id,
            lineID: issued.line.id, random: SecureRandom.bytes(count: AccessToken.randomSize),
            scope: issued.scope, issuedAt: issuedAt, expiresAt: issuedAt + lifetime,
            authenticatedAt: authenticatedAt)
        let accessText = try accessToken.signed(
            with: try await server.parts.keys.signingKey(client.accessTokenAlgorithm.signature))
        var idText: String?
        if givesIDToken, ScopeSet(parsing: issued.scope)?.contains(.openID) ?? false {
            let idToken = IDToken(
                issuer: issuer, clientID: client.id, account: issued.account, scope: issued.scope,
                nonce: issued.nonce, accessToken: accessText, issuedAt: issuedAt,
                expiresAt: issuedAt + Self.idTokenLifetime, authenticatedAt: authenticatedAt)
            idText = try idToken.signed(
                with: try await server.parts.keys.signingKey(client.idTokenAlgorithm.signature))
        }
        return TokenResponse(
            accessToken: accessText, expiresIn: lifetime,
            refreshToken: issued.hasNewRefreshToken ? refreshToken?.text : nil, scope: issued.scope,
            idToken: idText)
    }

    /// When a line with a refresh token ends that is used now.
    ///
    /// - Parameter begunAt: When the line began.
    static func lineEnd(of client: OAuthClient, begunAt: Moment, now: Moment) -> Moment {
        let idle = client.lifetimes.refreshTokenIdle.map { now.advanced(byMilliseconds: $0 * 1000) }
        let absolute = client.lifetimes.refreshTokenAbsolute.map {
            begunAt.advanced(byMilliseconds: $0 * 1000)
        }
        return min(idle ?? .last, absolute ?? .last)
    }
}
