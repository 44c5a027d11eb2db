public import AppleAccounts
import AuthorizationServer
import StrictJSON

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
