/// The thing that has a mode of its own: an app by its bundle ID, or an OAuth client by its ID.
public enum AppCheckTarget: Sendable, Hashable {
    case app(bundleID: String)
    case oauthClient(id: String)

    /// The kind as a word of storage and of metrics.
    public enum Kind: String, Sendable, CaseIterable {
        case app
        case oauthClient = "oauth_client"
    }

    public init(_ kind: Kind, name: String) {
        switch kind {
        case .app: self = .app(bundleID: name)
        case .oauthClient: self = .oauthClient(id: name)
        }
    }

    public var kind: Kind {
        switch self {
        case .app: .app
        case .oauthClient: .oauthClient
        }
    }

    public var name: String {
        switch self {
        case .app(let bundleID): bundleID
        case .oauthClient(let id): id
        }
    }
}
