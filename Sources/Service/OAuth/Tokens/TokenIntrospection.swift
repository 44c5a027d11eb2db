public import AppleAccounts
public import AuthorizationServer
import Commits
import Encodings
public import StrictJSON

/// `POST /oauth/introspect` (RFC 7662), and the check of access tokens for userinfo.
public struct TokenIntrospection: Sendable {
    /// The caller of introspection.
    public enum Caller: Sendable {
        /// An API key, with the apps that it may see.
        case apps(AppScope)
        /// A confidential client: it sees its own tokens only.
        case client(OAuthClient)

        /// The client; `nil` for an API key.
        public var client: OAuthClientID? {
            switch self {
            case .apps: nil
            case .client(let client): client.id
            }
        }
    }

    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Returns `nil` for everything except a valid token of this service that the caller may see. The
    /// response names no cause, so that a caller learns nothing about the tokens of others.
    ///
    /// - Throws: `StorageError`.
    public func description(of token: String, for caller: Caller) async throws -> TokenDescription? {
        guard let found = try await find(token) else { return nil }
        switch caller {
        case .apps(let scope): guard scope.allows(found.status.grant.clientID) else { return nil }
        case .client(let client): guard client.id == found.status.grant.oauthClientID else { return nil }
        }
        return TokenDescription(found, issuer: server.settings.issuer.text)
    }

    private func find(_ text: String) async throws -> GoodToken? {
        // The form of the token shows its kind, so the hint is not needed. Only the newest token is active: an
        // exchanged token is good for nothing but the same exchange again.
        guard let token = RefreshTokenText(parsing: text) else {
            return try await goodAccessToken(text)
        }
        guard let status = try await server.dependencies.store.status(ofFamily: token.familyID),
            status.isGood(at: server.now()), let kept = status.family.refreshToken,
            kept.digest == token.digest,
            let client = server.settings.clients[status.grant.oauthClientID], client.mayRefresh,
            let scope = client.remainingScope(of: status.family.scope)
        else { return nil }
        return GoodToken(status: status, accessToken: nil, scope: scope)
    }

    /// Returns an access token that is genuine, not expired, and not ended.
    func goodAccessToken(_ text: String) async throws -> GoodToken? {
        guard let token = try await server.genuineAccessToken(text),
            let status = try await server.dependencies.store.status(ofFamily: token.familyID),
            status.isGood(at: server.now()), status.grant.oauthClientID == token.clientID,
            // A transfer or an emulator's reset can have moved the token family to another account.
            status.status.account.id == token.accountID,
            let scope = server.settings.clients[token.clientID]?.remainingScope(of: token.scope)
        else { return nil }
        return GoodToken(status: status, accessToken: token, scope: scope)
    }
}

/// A token that is valid at this moment.
struct GoodToken: Sendable {
    let status: TokenStatus
    /// `nil` for a refresh token.
    let accessToken: AccessToken?
    /// The part of the token's scope that the client still has.
    let scope: String
}

/// The introspection response for a valid token (RFC 7662 §2.2).
public struct TokenDescription: Sendable {
    private let token: GoodToken
    private let issuer: String

    init(_ token: GoodToken, issuer: String) {
        (self.token, self.issuer) = (token, issuer)
    }

    /// Writes the JSON document.
    public func write(into json: inout JSONWriter) {
        let (family, grant) = (token.status.family, token.status.grant)
        json.beginObject()
        json.member("active", true)
        json.member("scope", token.scope)
        json.member("client_id", grant.oauthClientID.rawValue)
        json.member("sub", grant.accountID.rawValue)
        json.member("iss", issuer)
        json.member("auth_time", family.authenticatedAt.milliseconds / 1000)
        if let access = token.accessToken {
            json.member("token_type", "Bearer")
            json.member("aud", access.audience)
            json.member("iat", access.issuedAt)
            json.member("exp", access.expiresAt)
            json.member("jti", access.identifier)
        } else {
            // Omits `token_type`, which only access tokens have: an API can distinguish the two kinds by it.
            let issuedAt = family.refreshToken?.exchanged.first?.moment ?? family.createdAt
            json.member("iat", issuedAt.milliseconds / 1000)
            if family.expiresAt < .last { json.member("exp", family.expiresAt.milliseconds / 1000) }
        }
        json.endObject()
    }

    /// Writes the response for every other token (RFC 7662 §2.2).
    public static func writeInactive(into json: inout JSONWriter) {
        json.beginObject()
        json.member("active", false)
        json.endObject()
    }
}

/// `POST /oauth/revoke` (RFC 7009).
public struct TokenRevocation: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Ends the token family of a token of this client. A token that is unknown, of another client or ended
    /// already is left alone, and the client does not learn the cause.
    ///
    /// - Throws: `StorageError`, `OverloadedError`.
    public func revoke(_ text: String, of client: OAuthClient) async throws {
        let token: RevokeCommand.Token
        if let refreshToken = RefreshTokenText(parsing: text) {
            token = .refresh(refreshToken)
        } else if let accessToken = try await server.genuineAccessToken(text),
            accessToken.clientID == client.id
        {
            token = .access(familyID: accessToken.familyID)
        } else {
            return
        }
        let command = RevokeCommand(oauthClientID: client.id, token: token, moment: server.now())
        do {
            try await server.dependencies.commits.submit(command)
        } catch is GrantRefusal {
            // There is no token to end.
        }
    }
}

/// `GET` and `POST /oauth/userinfo` (OpenID Connect Core §5.3).
public struct UserInfo: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Returns the claims about the end user that the token's scope allows, as a JSON document.
    ///
    /// - Parameter note: Called with the client of a good token, also if the request is refused then.
    /// - Throws: `OAuthError` `invalid_token` for every token that introspection calls inactive, and
    ///   `insufficient_scope` without `openid`; `StorageError`.
    public func claims(
        accessToken: String, noting note: @Sendable (OAuthClientID) -> Void = { _ in }
    ) async throws -> [UInt8] {
        guard let good = try await TokenIntrospection(server).goodAccessToken(accessToken) else {
            throw OAuthError(.invalidToken, "The access token is malformed, expired or revoked.")
        }
        note(good.status.grant.oauthClientID)
        let scopes = ScopeSet(parsing: good.scope)
        guard scopes?.contains(.openID) ?? false else {
            throw OAuthError(
                .insufficientScope,
                scopes?.lacksOpenID ?? false
                    ? "The access token has email or profile, but not openid; ask for openid too, or set imply_openid "
                        + "for the client." : "The access token needs the scope openid.")
        }
        let account = good.status.status.account
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.member("sub", account.id.rawValue)
        UserClaims(of: account, scope: good.scope).write(into: &json)
        json.endObject()
        return json.bytes
    }
}
