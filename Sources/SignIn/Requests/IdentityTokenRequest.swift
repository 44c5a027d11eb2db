/// An identity token and what the caller knows about the sign-in that it must fit.
public struct IdentityTokenRequest: Sendable {
    public var identityToken: String
    /// The raw nonce, before the client hashed it.
    public var nonce: String?
    /// Narrows the audience, and never widens it.
    public var clientID: String?
    public var authorizationCode: String?
    public var accessToken: String?

    public init(
        identityToken: String, nonce: String? = nil, clientID: String? = nil,
        authorizationCode: String? = nil,
        accessToken: String? = nil
    ) {
        self.identityToken = identityToken
        self.nonce = nonce
        self.clientID = clientID
        self.authorizationCode = authorizationCode
        self.accessToken = accessToken
    }
}
