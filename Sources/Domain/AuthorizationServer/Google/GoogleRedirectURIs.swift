/// Google's redirect URIs, which follow from a project and from Google's apps.
enum GoogleRedirectURIs {
    /// Both hosts are always needed: Google tests a link on the second host.
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
