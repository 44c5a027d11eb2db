import StrictJSON

/// Calls to Apple's token endpoints: `POST /auth/token` and `POST /auth/revoke`.
///
/// `clientID` is always the client ID that the code or token
/// was issued to: the `aud` of the accompanying identity token.
public protocol AppleTokenService: Sendable {
    /// Exchanges an authorization code, which can be used once and expires after five minutes. `redirectURI`
    /// is the web flow's redirect URI; native apps have none.
    ///
    /// After an error whose `mayHaveHappened` is true, the code must not be sent again.
    func exchange(code: String, clientID: String, redirectURI: String?) async throws(AppleCallError)
        -> AppleTokenResponse

    /// Returns normally if a refresh token is still valid. The error `.rejected` with `.invalidGrant` means
    /// that it is not; any other error proves nothing about the token. Apple throttles this call if it is
    /// made more than once a day for the same user.
    @discardableResult
    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse

    /// Requests the revocation of a refresh token. The call is safe to repeat. Its success does not prove
    /// the revocation, because Apple also responds with 200 for an unknown token; the proof is that
    /// `validate` is refused afterwards.
    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError)
}

/// A successful response from Apple's token endpoint. Every member except the lifetime is secret, so
/// descriptions omit it.
public struct AppleTokenResponse: Sendable, Equatable {
    public let accessToken: String
    /// The refresh token; present only after a code exchange.
    public let refreshToken: String?
    /// The identity token, which is not yet verified.
    public let identityToken: String?
    /// The access token's lifetime.
    public let expiresIn: Duration

    public init(accessToken: String, refreshToken: String?, identityToken: String?, expiresIn: Duration) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
        (self.identityToken, self.expiresIn) = (identityToken, expiresIn)
    }
}

extension AppleTokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token response" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["expiresIn": expiresIn]) }
}

extension AppleTokenResponse {
    /// Reads a successful token endpoint response (RFC 6749
    /// §5.1). Throws the matching error for any other response.
    init(_ response: AppleResponse) throws(AppleCallError) {
        let document = try response.json()
        guard let accessToken = document["access_token"]?.string, Self.isToken(accessToken),
            let type = document["token_type"]?.string, type.lowercased() == "bearer",
            let seconds = document["expires_in"]?.integer, (1...31_536_000).contains(seconds),
            Self.isTokenOrAbsent(document["refresh_token"]), Self.isTokenOrAbsent(document["id_token"])
        else {
            throw AppleCallError(.responseUnusable, detail: "no token response")
        }
        self.init(
            accessToken: accessToken, refreshToken: document["refresh_token"]?.string,
            identityToken: document["id_token"]?.string, expiresIn: .seconds(seconds))
    }

    /// Returns true for visible ASCII (RFC 6749 appendix A.12)
    /// no longer than the longest token that a verifier accepts.
    private static func isToken(_ text: String) -> Bool {
        (1...16_000).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }
    }

    private static func isTokenOrAbsent(_ value: JSONValue?) -> Bool {
        guard let value else { return true }
        return value.string.map(isToken) ?? false
    }
}
