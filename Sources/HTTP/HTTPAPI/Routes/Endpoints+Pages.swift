import HTTPEngine

/// The pages of the authorization server, for browsers.
extension Endpoint {
    static let authorize = Endpoint(
        "authorize", .get, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser
    ) { $0.begin($1) }

    /// The consent page hides its origin, because it sends no referrer (Fetch §3.2); its form has a token.
    static let answerConsent = Endpoint(
        "answerConsent", .post, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.response($1) }

    static let showConnections = Endpoint(
        "showConnections", .get, "/account/connections", of: \.connections, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser
    ) { $0.show($1) }

    /// The page hides its origin, like the consent page; its forms have tokens.
    static let removeConnection = Endpoint(
        "removeConnection", .post, "/account/connections", of: \.connections, caller: .anyone,
        body: .pageForm, errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.remove($1) }

    static let endSession = Endpoint(
        "endSession", .get, "/oauth/logout", of: \.logout, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser
    ) { $0.begin($1) }

    /// A client's page posts from its own origin, and nothing changes before the user agrees or an ID token is
    /// verified. The form of our own page has a token.
    static let postEndSession = Endpoint(
        "postEndSession", .post, "/oauth/logout", of: \.logout, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.post($1) }

    static let showDevicePage = Endpoint(
        "showDevicePage", .get, "/oauth/device", of: \.devicePages, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser
    ) { $0.show($1) }

    /// The page hides its origin, like the consent page; its form has a token.
    static let answerDevicePage = Endpoint(
        "answerDevicePage", .post, "/oauth/device", of: \.devicePages, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others
    ) { $0.response($1) }
}
