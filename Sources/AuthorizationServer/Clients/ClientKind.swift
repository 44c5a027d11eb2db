/// The three kinds of clients, with what only one of them has.
public enum ClientKind: Sendable, Hashable {
    /// Google, for account linking: confidential.
    case googleLinking(GoogleLinking)
    /// A web application with a server: confidential.
    case web
    /// An installed app: public. What it contains can be read by everyone who has it (RFC 8252 §8.5).
    case native(NativePlatform?)

    /// The word of the configuration.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        case googleLinking = "google_linking"
        case web, native
    }

    public var name: Name {
        switch self {
        case .googleLinking: .googleLinking
        case .web: .web
        case .native: .native
        }
    }
}
