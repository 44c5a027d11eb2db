/// What is special about a client of the kind `google_linking`: Google, which links its users' accounts with
/// those of one of our apps.
public struct GoogleLinking: Sendable, Hashable {
    /// The project in Google's console. It is a part of two redirect URIs.
    public let projectID: String
    /// The `aud` values of Google's own tokens for this project. Never a `client_id` that is sent to us.
    public let googleClientIDs: [String]
    /// Whether the app on the person's phone may answer instead of a page.
    public let appFlip: Bool
    /// The Google apps that may be answered: the six known ones, and those of the configuration.
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
