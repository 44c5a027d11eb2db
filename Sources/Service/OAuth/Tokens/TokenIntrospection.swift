public import AppleAccounts
public import AuthorizationServer
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
