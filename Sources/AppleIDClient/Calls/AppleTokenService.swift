/// Apple's tokens: `POST /auth/token` and `POST /auth/revoke`.
///
/// `clientID` is always the one that the code or token was issued to: the `aud` of the identity token that
/// came with it.
public protocol AppleTokenService: Sendable {
    /// Exchanges an authorization code, which can be used once and expires after five minutes. `redirectURI`
    /// is that of the web flow; a native app has none.
    ///
    /// When `mayHaveHappened` of the error is true, the code must not be sent again.
    func exchange(code: String, clientID: String, redirectURI: String?) async throws(AppleCallError)
        -> TokenGrant

    /// Returns when a refresh token is still valid. It is not valid when the error is `.rejected` with
    /// `.invalidGrant`; every other error says nothing about the token. Apple throttles more than one such
    /// call per user and day.
    @discardableResult
    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> TokenGrant

    /// Asks Apple to revoke a refresh token. Can be repeated. A successful call is no proof of the
    /// revocation, because Apple also answers 200 for an unknown token. The proof is that `validate` is
    /// refused afterwards.
    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError)
}
