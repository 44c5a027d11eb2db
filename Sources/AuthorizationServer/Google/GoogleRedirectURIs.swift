/// The redirect URIs of Google, which follow from a project and from the apps of Google.
enum GoogleRedirectURIs {
    /// Both are always needed: Google tests a link on the second one.
    private static let hosts = [
        "https://oauth-redirect.googleusercontent.com",
        "https://oauth-redirect-sandbox.googleusercontent.com",
    ]

    /// For linking in the browser.
    static func project(_ id: String) -> [RegisteredRedirectURI] {
        hosts.map { RegisteredRedirectURI(text: "\($0)/r/\(id)", form: .googleProject) }
    }

    /// For App Flip: twelve for the six known apps. They do not name a project.
    static func appFlip(_ bundleIDs: [String]) -> [RegisteredRedirectURI] {
        hosts.flatMap { host in
            bundleIDs.map { RegisteredRedirectURI(text: "\(host)/a/\($0)", form: .appFlip) }
        }
    }
}
