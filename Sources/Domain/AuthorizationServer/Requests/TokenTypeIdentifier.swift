/// A kind of token in a token exchange (RFC 8693 §3).
public enum TokenTypeIdentifier: String, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    /// Apple's identity token, which is an ID token of OpenID Connect.
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
}
