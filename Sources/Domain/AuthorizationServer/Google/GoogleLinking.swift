public import AppleAccounts

/// The settings of a client whose kind is `google_linking`. The client is Google, which links its users'
/// accounts with accounts in one of the apps.
public struct GoogleLinking: Sendable, Hashable {
    /// The ID of the Google console project. It is part of two redirect URIs.
    public let projectID: String
    /// The `aud` values of Google's own tokens for this project. They are never used as `client_id` in
    /// requests to this service.
    public let googleClientIDs: [String]
    /// True if the app on the user's phone may ask for consent instead of a page.
    public let appFlip: Bool
    /// The Google apps that may receive a response: the six known apps and the apps in the configuration.
    public let bundleIDs: [String]
    /// The paths of the universal links that open the app, as patterns for `apple-app-site-association`.
    public let linkPaths: [String]

    /// The bundle IDs of Google Home and Google Assistant.
    public static let knownBundleIDs = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]
}

/// Google's redirect URIs, which are derived from the project and from Google's apps.
enum GoogleRedirectURIs {
    /// The hosts of the URIs. Every project needs both, because Google tests links on the second host.
    private static let hosts = [
        "https://oauth-redirect.googleusercontent.com",
        "https://oauth-redirect-sandbox.googleusercontent.com",
    ]

    /// Returns the redirect URIs that Google uses to link accounts in the browser.
    static func project(_ id: String) -> [RegisteredRedirectURI] {
        hosts.map { RegisteredRedirectURI(text: "\($0)/r/\(id)", form: .googleProject) }
    }

    /// Returns the App Flip redirect URIs, twelve for the six known apps. They contain no project ID.
    static func appFlip(_ bundleIDs: [String]) -> [RegisteredRedirectURI] {
        hosts.flatMap { host in
            bundleIDs.map { RegisteredRedirectURI(text: "\(host)/a/\($0)", form: .appFlip) }
        }
    }
}

/// The subject of an account without an Apple identity. It contains a colon, so it cannot be one of Apple's
/// subjects.
extension AppleSubject {
    /// The prefix that marks the subject of an account created by a Google account.
    public static let googlePrefix = "google:"

    /// Creates the subject of an account created by a Google account. Returns `nil` if the `sub` is too
    /// long.
    public init?(madeBy googleSubject: String) {
        self.init("\(Self.googlePrefix)\(googleSubject)")
    }

    public var isMadeByGoogle: Bool { rawValue.utf8.starts(with: Self.googlePrefix.utf8) }
}
