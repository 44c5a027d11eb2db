/// The three kinds of clients, with the settings that only one of them has.
public enum ClientKind: Sendable, Hashable {
    /// Google, for account linking: confidential.
    case googleLinking(GoogleLinking)
    /// A web application with a server: confidential.
    case web
    /// An installed app: public. Every owner of a copy can read its contents (RFC 8252 §8.5).
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

/// Settings of a client of the kind `google_linking`: Google, which links its users' accounts with the
/// accounts of one of our apps.
public struct GoogleLinking: Sendable, Hashable {
    /// The project in Google's console. Part of two redirect URIs.
    public let projectID: String
    /// The `aud` values of Google's own tokens for this project. Never a `client_id` of a request to us.
    public let googleClientIDs: [String]
    /// True if the app on the user's phone may respond instead of a page.
    public let appFlip: Bool
    /// The Google apps that may get a response: the six known apps, and the apps of the configuration.
    public let bundleIDs: [String]
    /// The paths of the universal links that open the app: patterns of `apple-app-site-association`.
    public let linkPaths: [String]

    public static let defaultLinkPaths = ["/link/google/*"]

    /// The bundle IDs of Google Home and of the Assistant.
    public static let knownBundleIDs = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]
}

/// The platform of a native client. It decides which redirect URIs are safe (RFC 8252, appendix B).
public enum NativePlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, macos, windows, linux, uwp

    /// True if a client may listen on a loopback port. On a phone another app can take the port while the
    /// client is in the background.
    public var allowsLoopback: Bool {
        switch self {
        case .ios, .android: false
        case .macos, .windows, .linux, .uwp: true
        }
    }

    /// The length in characters of the longest custom scheme that the system accepts. `nil` is no bound.
    public var longestScheme: Int? { self == .uwp ? 39 : nil }
}
