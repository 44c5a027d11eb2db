/// What the caller knows about the sign-in that a token must fit. Each one narrows; absent means not asked for.
public struct IdentityTokenExpectations: Sendable {
    /// The raw nonce, before the client hashed it.
    public var nonce: String?
    public var clientID: String?
    public var authorizationCode: String?
    public var accessToken: String?

    public init(
        nonce: String? = nil, clientID: String? = nil, authorizationCode: String? = nil,
        accessToken: String? = nil
    ) {
        self.nonce = nonce
        self.clientID = clientID
        self.authorizationCode = authorizationCode
        self.accessToken = accessToken
    }
}
