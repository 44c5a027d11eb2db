/// Apple's tokens: `POST /auth/token` and `POST /auth/revoke`.
///
/// `clientID` is always the client ID to which the code or token was issued: the `aud` of the identity token
/// that came with it.
public protocol AppleTokenService: Sendable {
    /// Exchanges an authorization code, which can be used once and expires after five minutes. `redirectURI`
    /// is the redirect URI of the web flow; a native app has none.
    ///
    /// The code must not be sent again after an error whose `mayHaveHappened` is true.
    func exchange(code: String, clientID: String, redirectURI: String?) async throws(AppleCallError)
        -> AppleTokenResponse

    /// Returns when a refresh token is still valid. It is not valid when the error is `.rejected` with
    /// `.invalidGrant`; every other error says nothing about the token. Apple throttles more than one such
    /// call per user and day.
    @discardableResult
    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse

    /// Requests the revocation of a refresh token. Can be repeated. A successful call is no proof of the
    /// revocation, because Apple also responds with 200 for an unknown token. The proof is that `validate` is
    /// refused afterwards.
    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError)
}

/// A successful response of Apple's token endpoint. Everything in it except the lifetime is secret and
/// appears in no description.
public struct AppleTokenResponse: Sendable, Equatable {
    public let accessToken: String
    /// The refresh token, present only when a code was exchanged.
    public let refreshToken: String?
    /// The identity token, not yet verified.
    public let identityToken: String?
    /// The access token's lifetime.
    public let expiresIn: Duration

    public init(accessToken: String, refreshToken: String?, identityToken: String?, expiresIn: Duration) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
        (self.identityToken, self.expiresIn) = (identityToken, expiresIn)
    }
}

extension AppleTokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token token" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["expiresIn": expiresIn]) }
}
