/// An endpoint of Apple's that faults can be set on. The raw value is its name in the control API.
public enum EmulatedEndpoint: String, Sendable, CaseIterable {
    /// `GET /auth/keys`
    case keys
    /// `GET /.well-known/openid-configuration`
    case discovery
    /// `GET /auth/authorize`, and what its page posts.
    case authorize
    /// `POST /auth/token`
    case token
    /// `POST /auth/revoke`
    case revoke
    /// `POST /auth/usermigrationinfo`
    case migration
    /// The other direction: notifications on their way to the receiver.
    case notifications
}
