import AppleAccounts
import AuthorizationServer
import Cryptography

/// The grant `authorization_code` (RFC 6749 §4.1.3).
struct CodeRedemption: Sendable {
    let server: OAuthServer

    /// Redeems a code. Everything that a code is bound to is checked in the transaction that redeems it, so
    /// that of many redemptions at once only one succeeds.
    ///
    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.CodeGrant, of client: OAuthClient) async throws -> TokenResponse {
        guard let code = AuthorizationCodeText(parsing: grant.code) else {
            throw OAuthError.invalidGrant(.codeUnknown)
        }
        guard let redirectURI = grant.redirectURI else { throw OAuthError.invalidGrant(.redirectURIDiffers) }
        let now = server.now()
        var generator = SystemRandomNumberGenerator()
        let familyID = UniqueID(at: now, using: &generator)
        let refreshToken = TokenMaker.newRefreshToken(familyID: familyID)
        let command = RedeemCommand(
            codeDigest: code.digest, oauthClientID: client.id, redirectURI: redirectURI,
            codeVerifier: grant.codeVerifier, clientScopes: client.scopes, newFamilyID: familyID,
            isNative: client.kind.sharesRefreshTokenLimit,
            refreshToken: refreshToken.newToken(forGoogle: client.googleLinking != nil),
            needsOfflineAccess: client.kind.needsOfflineAccess,
            familyExpiresAt: TokenMaker.lineEnd(of: client, usedAt: now, isNew: true),
            accessTokenExpiresAt: now.advanced(byMilliseconds: client.lifetimes.accessToken * 1000),
            limits: server.limits(of: client), moment: now)
        let issued: IssuedTokens
        do {
            issued = try await server.submitEnding(command)
        } catch let refusal as GrantRefusal {
            throw OAuthError.invalidGrant(refusal.code.reason)
        }
        return try await TokenMaker(server: server).response(
            for: issued, client: client, refreshToken: refreshToken, givesIDToken: true, at: now)
    }
}

extension OAuthServer {
    /// Token families of Google never count towards the limit of the account, and are never ended by it.
    func limits(of client: OAuthClient) -> FamilyLimits {
        FamilyLimits(
            perClient: client.refreshTokenLimit,
            perAccount: client.kind.sharesRefreshTokenLimit ? settings.nativeRefreshTokenLimit : nil)
    }
}
