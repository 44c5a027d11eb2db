/// An identity token, and what a client gets along with it.
public struct MintedIdentityToken: Sendable {
    public let identityToken: String
    public let subject: String
    public let clientID: String
    public let nonce: String?
    public let authorizationCode: String?
    public let accessToken: String?
    /// Apple's unsigned `user` object, which clients get on the first authorization only.
    public let user: FirstTimeUser?
}
