/// Apple's tokens: `POST /auth/token` and `POST /auth/revoke`.
///
/// A client ID is always the one that the code or token was issued to: the `aud` of the identity token that came with
/// it. No call is repeated by itself.
public protocol AppleTokenService: Sendable {
    /// Exchanges an authorization code, which works once and for five minutes after it was issued. `redirectURI` is the
    /// one of the web flow; a native app has none.
    ///
    /// When the error says `mayHaveHappened`, the code must not be sent again.
    func exchange(code: String, clientID: String, redirectURI: String?) async throws(AppleCallError)
        -> TokenGrant

    /// Asks whether a refresh token is still good: returns when it is. It is not when the error is `.rejected` with
    /// `.invalidGrant`; every other error says nothing about it. Apple throttles more than one such call a day and user.
    @discardableResult
    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> TokenGrant

    /// Asks Apple to revoke a refresh token. Returning proves nothing: Apple says yes to a token that it does not know
    /// too. The proof is that `validate` is then refused. Can be repeated.
    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError)
}
