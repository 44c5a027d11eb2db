public import AuthorizationServer
public import StrictJSON

/// A successful token response (RFC 6749 §5.1).
public struct TokenResponse: Sendable {
    public let accessToken: String
    /// Seconds.
    public let expiresIn: Int64
    /// `nil` when the client gets no refresh token, or keeps its current token.
    public let refreshToken: String?
    /// Space-separated.
    public let scope: String
    public let idToken: String?
    /// `nil` except in the response to a token exchange (RFC 8693 §2.2.1).
    public var issuedTokenType: TokenTypeIdentifier?
    /// The names of values of the identity token and of `user` that were dropped, in the response to a token
    /// exchange: a member of ours (RFC 6749 §5.1: a client ignores members that it does not know).
    public var dropped: [String] = []

    /// Writes the JSON document.
    public func write(into json: inout JSONWriter) {
        json.beginObject()
        json.member("access_token", accessToken)
        json.member("issued_token_type", ifPresent: issuedTokenType?.rawValue)
        json.member("token_type", "Bearer")
        json.member("expires_in", expiresIn)
        json.member("refresh_token", ifPresent: refreshToken)
        json.member("scope", scope)
        json.member("id_token", ifPresent: idToken)
        json.member("dropped", ifAny: dropped)
        json.endObject()
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    /// A description without the tokens.
    public var description: String { "token response" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
