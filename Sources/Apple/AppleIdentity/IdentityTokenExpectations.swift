/// Values of the sign-in that the caller knows and that the token must match. `nil` means that the value is
/// not checked.
public struct IdentityTokenExpectations: Sendable {
    /// The raw nonce, before the app hashed it.
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
