/// The party that did what a row of the audit log tells of.
public struct AuditActor: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A backend, by the name of its API key.
        case apiKey = "api_key"
        case oauthClient = "oauth_client"
        /// An operator in the console, by the name of their API key.
        case consoleOperator = "operator"
        /// This service by itself: a worker, or the start.
        case service
        /// A command on the terminal.
        case command
        /// A user in a browser or an app. A row never has a name of theirs.
        case user
        case apple
        case google
    }

    public let kind: Kind
    /// The name of the key, the client or the command; never a key. `nil` where the kind says all.
    public let name: String?

    private init(_ kind: Kind, _ name: String? = nil) { (self.kind, self.name) = (kind, name) }

    /// Creates an actor as it was stored.
    public init(kind: Kind, name: String?) { self.init(kind, name) }

    public static let service = AuditActor(.service)
    public static let user = AuditActor(.user)
    public static let apple = AuditActor(.apple)
    public static let google = AuditActor(.google)

    /// - Parameter name: `nil` in development without API keys.
    public static func apiKey(_ name: String?) -> AuditActor { AuditActor(.apiKey, name) }
    public static func oauthClient(_ id: OAuthClientID) -> AuditActor {
        AuditActor(.oauthClient, id.rawValue)
    }
    public static func consoleOperator(_ name: String) -> AuditActor { AuditActor(.consoleOperator, name) }

    /// - Parameter name: The words of the command, such as "transfer apply".
    public static func command(_ name: String) -> AuditActor { AuditActor(.command, name) }
}
