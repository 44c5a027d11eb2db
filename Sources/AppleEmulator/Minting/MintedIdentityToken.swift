/// An identity token, and the other values that a client gets with it.
public struct MintedIdentityToken: Sendable {
    public let identityToken: String
    public let subject: String
    public let clientID: String
    public let nonce: String?
    public let authorizationCode: String?
    public let accessToken: String?
    /// Apple's unsigned `user` object, which clients get only at the first authorization.
    public let user: FirstTimeUser?
}
