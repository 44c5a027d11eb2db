/// What a caller wants of a new link. Without a value, the usual one of the configuration is taken.
struct LinkRequest: Sendable {
    var mode = AccountLink.Mode.browser
    var scope: String?
    var userLocale: String?
    var loginHint: String?
    /// Whether Google sends a PKCE challenge, as its newest page asks of agents.
    var usesPKCE = true
    /// For tests of other redirect URIs.
    var redirectURI: String?
}

/// The start of a link: what is opened in the browser, or as a universal link.
struct LinkStart: Sendable {
    let url: String
    let begun: BegunLink
}
