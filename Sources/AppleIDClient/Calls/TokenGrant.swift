/// What Apple's token endpoint grants. Everything in it but the lifetime is a secret and shows in no description.
public struct TokenGrant: Sendable, Equatable {
    public let accessToken: String
    /// Only when a code was exchanged.
    public let refreshToken: String?
    /// Not yet verified.
    public let identityToken: String?
    /// The access token's lifetime.
    public let expiresIn: Duration

    public init(accessToken: String, refreshToken: String?, identityToken: String?, expiresIn: Duration) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
        (self.identityToken, self.expiresIn) = (identityToken, expiresIn)
    }
}

extension TokenGrant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "token grant" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["expiresIn": expiresIn]) }
}
