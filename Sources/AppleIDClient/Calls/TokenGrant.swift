/// A successful response of Apple's token endpoint. Everything in it except the lifetime is secret and
/// appears in no description.
public struct TokenGrant: Sendable, Equatable {
    public let accessToken: String
    /// Present only when a code was exchanged.
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
