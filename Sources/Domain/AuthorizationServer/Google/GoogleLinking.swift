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

    /// The bundle IDs of Google Home and of the Assistant.
    public static let knownBundleIDs = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]
}
