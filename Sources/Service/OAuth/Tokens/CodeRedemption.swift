import AppleAccounts
import AuthorizationServer
import Commits
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
        let redemption = NewRedemption(
            of: code.digest, redirectURI: redirectURI, codeVerifier: grant.codeVerifier, client, at: server)
        let issued: IssuedTokens
        do {
            issued = try await server.dependencies.commits.submit(redemption.command)
        } catch let refusal as GrantRefusal {
            let reason = refusal.code.reason
            // The code stays, and can be redeemed when the hour is over.
            throw reason == .familyLimitReached
                ? OAuthError(limitedBy: refusal, at: server.now()) : .invalidGrant(reason)
        }
        return try await redemption.response(for: issued, client, at: server)
    }
}

/// The redemption of one code, with the refresh token that it offers. Its text is made before the transaction,
/// which keeps the digests.
struct NewRedemption: Sendable {
    let command: RedeemCommand
    private let refreshToken: RefreshTokenText

    init(
        of codeDigest: SHA256Digest, redirectURI: String, codeVerifier: String?, _ client: OAuthClient,
        at server: OAuthServer
    ) {
        let now = server.now()
        var generator = SystemRandomNumberGenerator()
        let familyID = UniqueID(at: now, using: &generator)
        refreshToken = TokenMaker.newRefreshToken(familyID: familyID)
        command = RedeemCommand(
            codeDigest: codeDigest, oauthClientID: client.id, redirectURI: redirectURI,
            codeVerifier: codeVerifier, clientScopes: client.scopes, newFamilyID: familyID,
            isNative: client.kind.sharesRefreshTokenLimit,
            refreshToken: refreshToken.newToken(forGoogle: client.googleLinking != nil),
            needsOfflineAccess: client.kind.needsOfflineAccess,
            familyExpiresAt: TokenMaker.lineEnd(of: client, usedAt: now, isNew: true),
            accessTokenExpiresAt: now.advanced(byMilliseconds: client.lifetimes.accessToken * 1000),
            limits: server.limits(of: client), moment: now)
    }

    /// - Throws: `StorageError`, `JOSEError`.
    func response(
        for issued: IssuedTokens, _ client: OAuthClient, at server: OAuthServer
    ) async throws -> TokenResponse {
        try await TokenMaker(server: server).response(
            for: issued, client: client, refreshToken: refreshToken, givesIDToken: true, at: command.moment)
    }
}

extension OAuthError {
    /// A refusal by a limit that ends by itself.
    init(limitedBy refusal: GrantRefusal, at now: Moment) {
        let reason = refusal.code.reason
        self.init(
            .temporarilyUnavailable, reason.explanation, reason: reason,
            retryAfter: refusal.secondsToWait(at: now))
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
