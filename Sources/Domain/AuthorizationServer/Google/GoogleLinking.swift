public import AppleAccounts

/// Settings of a client of the kind `google_linking`: Google, which links its users'
/// accounts with the accounts of one of our apps.
public struct GoogleLinking: Sendable, Hashable {
    /// The project in Google's console. Part of two redirect URIs.
    public let projectID: String
    /// The `aud` values of Google's own tokens for this project. Never a `client_id` of a request to us.
    public let googleClientIDs: [String]
    /// True if the app on the user's phone may respond instead of a page.
    public let appFlip: Bool
    /// The Google apps that may receive a response: the six known apps, and the apps of the configuration.
    public let bundleIDs: [String]
    /// The paths of the universal links that open the app: patterns of `apple-app-site-association`.
    public let linkPaths: [String]

    /// The bundle IDs of Google Home and of the Assistant.
    public static let knownBundleIDs = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]
}

/// Google's redirect URIs, which derive from a project and from Google's apps.
enum GoogleRedirectURIs {
    /// The hosts of the URIs. Both are always needed: Google tests a link on the second host.
    private static let hosts = [
        "https://oauth-redirect.googleusercontent.com",
        "https://oauth-redirect-sandbox.googleusercontent.com",
    ]

    /// Returns the redirect URIs for linking in the browser.
    static func project(_ id: String) -> [RegisteredRedirectURI] {
        hosts.map { RegisteredRedirectURI(text: "\($0)/r/\(id)", form: .googleProject) }
    }

    /// Returns the redirect URIs for App Flip: twelve for the six known apps. They do not name a project.
    static func appFlip(_ bundleIDs: [String]) -> [RegisteredRedirectURI] {
        hosts.flatMap { host in
            bundleIDs.map { RegisteredRedirectURI(text: "\(host)/a/\($0)", form: .appFlip) }
        }
    }
}

/// The subject of an account without an Apple identity. Apple's subjects have no colon.
extension AppleSubject {
    /// Prefix of the subject of every account that was created by a Google account.
    public static let googlePrefix = "google:"

    /// Creates the subject of an account that was created by a Google
    /// account; `nil` when the `sub` is too long.
    public init?(madeBy googleSubject: String) {
        self.init("\(Self.googlePrefix)\(googleSubject)")
    }

    public var isMadeByGoogle: Bool { rawValue.utf8.starts(with: Self.googlePrefix.utf8) }
}
