public import AppleAccounts
public import AuthorizationServer
import Commits
import Encodings
public import StrictJSON

/// Handles `POST /oauth/introspect` (RFC 7662), and checks access tokens for the UserInfo endpoint.
public struct TokenIntrospection: Sendable {
    /// The caller of the introspection endpoint.
    public enum Caller: Sendable {
        /// A caller with an API key, and the apps that the key has access to.
        case apps(AppScope)
        /// A confidential client, which can only introspect its own tokens.
        case client(OAuthClient)

        /// The client's ID; `nil` for a caller with an API key.
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

    /// Returns the description of a token; `nil` unless this service issued the token, the token is valid,
    /// and the caller may see it. The response contains no reason, so that callers learn nothing about other
    /// clients' tokens.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func description(of token: String, for caller: Caller) async throws -> TokenDescription? {
        guard let found = try await find(token) else { return nil }
        switch caller {
        case .apps(let scope): guard scope.allows(found.status.grant.clientID) else { return nil }
        case .client(let client): guard client.id == found.status.grant.oauthClientID else { return nil }
        }
        return TokenDescription(found, issuer: server.settings.issuer.text)
    }

    private func find(_ text: String) async throws -> GoodToken? {
        // The token's text shows its kind, so no hint is needed. Only the newest refresh token is active,
        // because an exchanged token can only repeat the same exchange.
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

    /// Returns the access token if it is genuine and unexpired, and its token family has not ended.
    func goodAccessToken(_ text: String) async throws -> GoodToken? {
        guard let token = try await server.genuineAccessToken(text),
            let status = try await server.dependencies.store.status(ofFamily: token.familyID),
            status.isGood(at: server.now()), status.grant.oauthClientID == token.clientID,
            // A transfer or an emulator reset may have moved the token family to another account.
            status.status.account.id == token.accountID,
            let scope = server.settings.clients[token.clientID]?.remainingScope(of: token.scope)
        else { return nil }
        return GoodToken(status: status, accessToken: token, scope: scope)
    }
}

/// A token that is currently valid.
struct GoodToken: Sendable {
    let status: TokenStatus
    /// The access token; `nil` for a refresh token.
    let accessToken: AccessToken?
    /// The part of the token's scope that is still configured for the client.
    let scope: String
}

/// The response to an introspection request (RFC 7662 §2.2).
public struct TokenDescription: Sendable {
    /// The token; `nil` if it is not valid.
    private let token: GoodToken?
    private let issuer: String

    init(_ token: GoodToken?, issuer: String) {
        (self.token, self.issuer) = (token, issuer)
    }

    public static let inactive = TokenDescription(nil, issuer: "")

    private var isActive: Bool { token != nil }

    private var access: AccessToken? { token?.accessToken }

    /// Time of issue in seconds since 1970.
    private var issuedAt: Int64? {
        guard access == nil, let family = token?.status.family else { return access?.issuedAt }
        return (family.refreshToken?.exchanged.first?.moment ?? family.createdAt).milliseconds / 1000
    }

    private var expiresAt: Int64? {
        guard access == nil, let family = token?.status.family else { return access?.expiresAt }
        return family.expiresAt < .last ? family.expiresAt.milliseconds / 1000 : nil
    }
}

extension TokenDescription: JSONBody {
    public static var schemaName: String { "IntrospectionResponse" }
    public static var schemaText: String {
        "An introspection response (RFC 7662 §2.2). An inactive token has `active` alone."
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "active",
            "True if the token is good now: issued here, not expired, not revoked, and the account may use it."
        ) { $0.isActive }
        member("scope", "The granted scope. Space-separated.") { $0.token?.scope }
        member("client_id", "The OAuth client.") { $0.token?.status.grant.oauthClientID.rawValue }
        member("sub", "The account ID.") { $0.token?.status.grant.accountID.rawValue }
        member("iss", "The issuer of the token.") { $0.token == nil ? nil : $0.issuer }
        member("auth_time", "When the end user signed in with Apple, in seconds since 1970.") {
            ($0.token?.status.family.authenticatedAt.milliseconds).map { $0 / 1000 }
        }
        // `token_type` lets APIs distinguish access tokens from refresh tokens.
        member("token_type", "`Bearer`, of an access token.") { $0.access == nil ? nil : "Bearer" }
        member("aud", "The audience of the client.") { $0.access?.audience }
        member("iat", "When the token was issued, in seconds since 1970.") { $0.issuedAt }
        member("exp", "When the token expires, in seconds since 1970.") { $0.expiresAt }
        member("jti", "The ID of the token.") { $0.access?.identifier }
    }

    public func write(into json: inout JSONWriter) { json.object(self) }
}

/// Handles `POST /oauth/revoke` (RFC 7009).
public struct TokenRevocation: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Ends the token family of one of this client's tokens. Ignores unknown tokens, ended tokens and other
    /// clients' tokens, so that the client learns nothing about them.
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

/// Handles `GET` and `POST /oauth/userinfo` (OpenID Connect Core §5.3).
public struct UserInfo: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Returns a JSON document with the claims about the end user that the token's scope allows.
    ///
    /// - Parameter note: Called with the client of a valid token, even if the request is refused afterwards.
    /// - Throws: `OAuthError` with the code `invalid_token` for every token that introspection reports as
    ///   inactive, and `insufficient_scope` for a token without `openid`; `StorageError`.
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
        return UserInfoResponse(sub: account.id, claims: UserClaims(of: account, scope: good.scope)).json()
    }
}

public struct UserInfoResponse: JSONBody {
    public static var schemaName: String { "UserInfoResponse" }
    public static var schemaText: String {
        "A UserInfo response (OpenID Connect Core §5.3.2). The scope of the token decides which claims it has."
    }
    let sub: AccountID
    let claims: UserClaims

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("sub", "The account ID.") { $0.sub.rawValue }
        member.inline { $0.claims }
    }
}
