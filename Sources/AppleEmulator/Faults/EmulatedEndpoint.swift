/// An endpoint of Apple on which faults can be set. The raw value is its name in the control API.
public enum EmulatedEndpoint: String, Sendable, CaseIterable {
    /// `GET /auth/keys`
    case keys
    /// `GET /.well-known/openid-configuration`
    case discovery
    /// `GET /auth/authorize`, and the forms of its page.
    case authorize
    /// `POST /auth/token`
    case token
    /// `POST /auth/revoke`
    case revoke
    /// `POST /auth/usermigrationinfo`
    case migration
    /// The other direction: notifications to the receiver.
    case notifications
}
