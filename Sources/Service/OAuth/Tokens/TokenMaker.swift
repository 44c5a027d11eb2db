import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import JOSE

/// Makes the tokens for a response, once the store has returned their contents.
struct TokenMaker: Sendable {
    /// ID token lifetime in seconds. It can be short, because clients read an ID token on arrival.
    static let idTokenLifetime: Int64 = 3600

    let server: OAuthServer

    /// Makes the ID and the refresh token for a new token family.
    static func newFamily(at now: Moment) -> (id: UniqueID, refreshToken: RefreshTokenText) {
        var generator = SystemRandomNumberGenerator()
        let id = UniqueID(at: now, using: &generator)
        let refreshToken = RefreshTokenText(
            familyID: id, familySecret: SecureRandom.bytes(count: RefreshTokenText.familySecretSize),
            generation: 0, secret: SecureRandom.bytes(count: RefreshTokenText.secretSize))
        return (id, refreshToken)
    }

    /// Checks that the service can sign the tokens of a request. Waits only for keys that are not in memory.
    ///
    /// - Throws: `SigningKeysShut`, `StorageError`, `JOSEError`.
    func requireKeys(for request: TokenRequest) throws -> Step<Void> {
        let (client, keys) = (request.client, server.dependencies.keys)
        var algorithms = [client.accessTokenAlgorithm.signature]
        if case .assertion(let grant) = request.grant, grant.intent == .check { return .now(()) }
        if request.grantType.givesIDToken, client.scopes.contains(.openID) {
            algorithms.append(client.idTokenAlgorithm.signature)
        }
        let missing = algorithms.filter { keys.heldSigningKey($0) == nil }
        if missing.isEmpty { return .now(()) }
        return .later { for algorithm in missing { try await keys.requireKey(algorithm) } }
    }

    /// Commits a command, and returns the tokens that the command issues.
    ///
    /// - Parameter refused: Maps a refusal of the command to an error of the token endpoint.
    func tokens<Issuing: TypedCommand>(
        _ command: Issuing, _ new: NewTokens, refused: @escaping @Sendable (GrantRefusal) -> OAuthError
    ) -> Step<TokenResponse> where Issuing.Command == GrantCommand, Issuing.Output == IssuedTokens {
        server.dependencies.commits.step(
            command,
            then: { result in
                do {
                    return try response(for: try result.get(), new)
                } catch let refusal as GrantRefusal {
                    throw refused(refusal)
                }
            })
    }

    /// Signs the tokens. Waits for keys that are not in memory. Makes RSA signatures on another thread,
    /// because they take much longer than the rest of the request.
    ///
    /// - Throws: `StorageError`, `SigningKeysShut`, `JOSEError`.
    func response(for issued: IssuedTokens, _ new: NewTokens) throws -> Step<TokenResponse> {
        let keys = server.dependencies.keys
        let givesIDToken = new.givesIDToken && ScopeSet(parsing: issued.scope)?.contains(.openID) ?? false
        let access = new.client.accessTokenAlgorithm.signature
        let id = givesIDToken ? new.client.idTokenAlgorithm.signature : nil
        if access == .ES256, id == nil || id == .ES256, let key = keys.heldSigningKey(.ES256) {
            return .now(try signed(issued, new, with: key, idTokenKey: id == nil ? nil : key))
        }
        return .later {
            let accessKey = try await keys.signingKey(access)
            var idKey: TokenSigningKey?
            if let id { idKey = try await keys.signingKey(id) }
            // Signing must leave the event loop, which runs the request's task.
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { [accessKey, idKey] in
                try signed(issued, new, with: accessKey, idTokenKey: idKey)
            }
        }
    }

    private func signed(
        _ issued: IssuedTokens, _ new: NewTokens, with key: TokenSigningKey, idTokenKey: TokenSigningKey?
    ) throws -> TokenResponse {
        let (client, issuer) = (new.client, server.settings.issuer.text)
        let issuedAt = new.moment.milliseconds / 1000
        // The lifetime is bounded, because no token may outlive its token family.
        let lifetime = max(
            min(client.lifetimes.accessToken, issued.family.expiresAt.milliseconds / 1000 - issuedAt), 1)
        let authenticatedAt = issued.family.authenticatedAt.milliseconds / 1000
        let accessText = try AccessToken(
            issuer: issuer, audience: client.audience, accountID: issued.account.id, clientID: client.id,
            familyID: issued.family.id, random: SecureRandom.bytes(count: AccessToken.randomSize),
            scope: issued.scope, issuedAt: issuedAt, expiresAt: issuedAt + lifetime,
            authenticatedAt: authenticatedAt
        ).signed(with: key)
        let idText = try idTokenKey.map { idTokenKey in
            try IDToken(
                issuer: issuer, clientID: client.id, account: issued.account, scope: issued.scope,
                nonce: issued.nonce, accessToken: accessText, issuedAt: issuedAt,
                expiresAt: issuedAt + Self.idTokenLifetime, authenticatedAt: authenticatedAt
            ).signed(with: idTokenKey)
        }
        let refreshToken = issued.successor ?? (issued.hasNewRefreshToken ? new.refreshToken : nil)
        return TokenResponse(
            accessToken: accessText, expiresIn: lifetime, refreshToken: refreshToken?.text,
            scope: issued.scope, idToken: idText)
    }

    /// Returns the time when a token family ends if its refresh token is not used again.
    ///
    /// - Parameter isNew: True for a new token family. For an older family, the store already contains the
    ///   absolute end of the family's lifetime.
    static func lineEnd(of client: OAuthClient, usedAt now: Moment, isNew: Bool) -> Moment {
        let lifetimes = client.lifetimes
        let idle = lifetimes.refreshTokenIdle.map { now.advanced(byMilliseconds: $0 * 1000) } ?? .last
        guard isNew, let absolute = lifetimes.refreshTokenAbsolute else { return idle }
        return min(idle, now.advanced(byMilliseconds: absolute * 1000))
    }
}

/// The new tokens for a command. The refresh token's text is made before the transaction, because the
/// transaction stores the token's digests.
struct NewTokens: Sendable {
    let client: OAuthClient
    /// The new refresh token, which the response contains only if the command stored it; `nil` if the request
    /// exchanges a refresh token.
    let refreshToken: RefreshTokenText?
    /// True if the response contains an ID token for the `openid` scope.
    let givesIDToken: Bool
    let moment: Moment
}
