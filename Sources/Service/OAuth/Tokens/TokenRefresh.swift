import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography

/// The grant `refresh_token` (RFC 6749 §6, RFC 9700 §4.14).
struct TokenRefresh: Sendable {
    let server: OAuthServer

    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.RefreshGrant, of client: OAuthClient) async throws -> TokenResponse {
        // Checked before the transaction: the token is kept, and valid again when the scope is restored.
        guard client.mayRefresh else { throw OAuthError.invalidGrant(.refreshNotAllowed) }
        guard let presented = RefreshTokenText(parsing: grant.refreshToken) else {
            throw OAuthError.invalidGrant(.tokenUnknown)
        }
        let now = server.now()
        var rotation: RefreshCommand.Rotation?
        if client.kind.rotatesRefreshTokens {
            rotation = RefreshCommand.Rotation(
                salt: SecureRandom.bytes(count: RefreshTokenText.saltSize),
                retryWindow: (client.refreshRetryWindow ?? server.settings.refreshRetryWindow) * 1000)
        }
        let command = RefreshCommand(
            oauthClientID: client.id, presented: presented, rotation: rotation,
            scope: grant.scope?.text, clientScopes: client.scopes,
            familyExpiresAt: TokenMaker.lineEnd(of: client, usedAt: now, isNew: false),
            longestLine: client.lifetimes.refreshTokenAbsolute.map { $0 * 1000 }, moment: now)
        let issued: IssuedTokens
        do {
            issued = try await server.dependencies.commits.submit(command)
        } catch let refusal as GrantRefusal {
            guard refusal.code == .scopeExceeded else { throw OAuthError.invalidGrant(refusal.code.reason) }
            throw OAuthError(
                .invalidScope, TokenRefusalReason.scopeExceeded.explanation, reason: .scopeExceeded)
        }
        return try await TokenMaker(server: server).response(
            for: issued, client: client, refreshToken: issued.successor, givesIDToken: false, at: now)
    }
}
