import HTTPEngine
import StrictJSON

/// The authorization server's pages, called by browsers.
extension Endpoint {
    static let authorize = Endpoint(
        "authorize", .get, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser,
        Operation(
            .oauth, "The authorization endpoint (RFC 6749 §3.1). Clients send the browser here.",
            text: """
                Signs the user in with Apple if needed, asks for consent, and redirects to the client with `code`,
                `state` and `iss`, or with `error`, `error_description`, `state` and `iss`. An unknown client, a
                redirect URI that the client does not have, and a browser inside another app get a page and no
                redirect. Unknown parameters are ignored.
                """,
            parameters: [
                .query(
                    "client_id", "The ID of an OAuth client, once.", ["type": "string", "maxLength": 128],
                    example: "example-desktop"),
                .query(
                    "redirect_uri", "A redirect URI of the client, once.",
                    ["type": "string", "maxLength": 2048], example: "com.example.app:/oauth2redirect"),
                .query("response_type", "`code`", ["type": "string"], example: "code"),
                .query(
                    "state", "A value of the client, at most 4096 bytes. It is returned unchanged.",
                    ["type": "string", "maxLength": 4096], example: "a5c1f0e2"),
                .query(
                    "scope",
                    "Scopes of the client, separated by spaces. Without the parameter, all scopes of the client.",
                    ["type": "string", "maxLength": 2048], example: "openid email"),
                .query(
                    "code_challenge", "RFC 7636. Required, except for clients of the kind `google_linking`.",
                    ["type": "string", "minLength": 43, "maxLength": 128, "pattern": "^[A-Za-z0-9._~-]*$"],
                    example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
                .query(
                    "code_challenge_method",
                    """
                    `S256`; also `plain`, which is the default of RFC 7636, for a `native` client with
                    `allow_plain_pkce`.
                    """, ["type": "string"], example: "S256"),
                .query(
                    "prompt", "`none`, or some of `login`, `consent` and `select_account`.",
                    ["type": "string"], example: "consent"),
                .query(
                    "max_age", "The largest age of the user's sign-in with Apple, in seconds.",
                    ["type": "string", "pattern": "^[0-9]{0,10}$"], example: "3600"),
                .query(
                    "nonce", "Is returned in the ID token. At most 512 bytes.",
                    ["type": "string", "maxLength": 512], example: "n-0S6_WzA2Mj"),
                .query(
                    "login_hint",
                    "An e-mail address or an account ID. The page shows it to the user, who can choose another account.",
                    ["type": "string"], example: "ada@example.com"),
                .query(
                    "id_token_hint",
                    "An ID token of the user who is meant, expired or not. The session of another user counts as none.",
                    ["type": "string", "maxLength": 8192]),
                .query(
                    "ui_locales", "The languages of the pages (BCP 47). `user_locale` has precedence.",
                    ["type": "string"], example: "pl en"),
                .query(
                    "user_locale", "The language of the pages, as Google sends it (BCP 47).",
                    ["type": "string"], example: "pl-PL"),
                .query(
                    "response_mode", "`query`, which is also the default. Other values are refused.",
                    ["type": "string"], example: "query"),
                .query(
                    "resource", "The client's `audience` (RFC 8707). Any other value is `invalid_target`.",
                    ["type": "string", "maxLength": 512], example: "https://id.example.com"),
            ],
            returns: [
                .shared(200, "ConsentPage"),
                .shared(303, "Redirect"),
                .shared(400, "Page"),
                .shared(403, "Page"),
            ])
    ) { $0.begin($1) }

    /// Handles the consent form. The page sends no referrer, so the browser hides the page's origin (Fetch
    /// §3.2), and a token protects the form against forgery instead.
    static let answerConsent = Endpoint(
        "answerConsent", .post, "/oauth/authorize", of: \.authorize, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others,
        Operation(
            .oauth, "Receives the form of the consent page, or the parameters of a request as a form.",
            text: """
                A form without a query in the URL has the parameters of `GET /oauth/authorize`, and the same
                response. A form that a page posts is redirected to the `GET`, because the browser sends the cookie
                of the session only then.
                """,
            takes: .content(
                .consentForm,
                example: ["csrf_token": "Zk3vTq8mWc5yRb1nXe7hLgPq2sUd4fJ6kM9oA0iBtCw", "decision": "agree"]),
            returns: [
                .shared(200, "ConsentPage"),
                .shared(303, "Redirect"),
                .shared(400, "Page"),
                .shared(403, "Page"),
            ])
    ) { $0.response($1) }

    static let showConnections = Endpoint(
        "showConnections", .get, "/account/connections", of: \.connections, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser,
        Operation(
            .oauth, "The user's page about the clients that have access to the account.",
            text: """
                Signs the user in with Apple if needed, and shows the clients, what each may do, since when, and the
                last use, with a button that ends the access.
                """,
            parameters: [
                .query(
                    "app",
                    """
                    The primary client ID of the app that the user signs in to. Without it the page asks, where several
                    apps have clients.
                    """, ["type": "string", "maxLength": 255], example: "com.example.app"),
                .query(
                    "ui_locales", "The languages of the page (BCP 47). `user_locale` has precedence.",
                    ["type": "string"], example: "pl en"),
                .query(
                    "user_locale", "The language of the page (BCP 47).", ["type": "string"], example: "pl-PL"),
                .query(
                    "removed", "Set by the page itself after a removal, to say so.", ["type": "string"],
                    example: "1"),
            ],
            returns: [
                .shared(200, "ConnectionsPage"),
                .shared(303, "Redirect"),
                .shared(403, "Page"),
                .shared(404, "Page"),
            ])
    ) { $0.show($1) }

    /// Handles a form submitted from the connections page. As on the consent page, the browser hides the
    /// page's origin, so tokens protect the forms against forgery.
    static let removeConnection = Endpoint(
        "removeConnection", .post, "/account/connections", of: \.connections, caller: .anyone,
        body: .pageForm, errors: .page, priority: .ordinary, fields: .browser, origins: .others,
        Operation(
            .oauth, "Receives a form of the page about connected clients, and ends a grant.",
            parameters: [
                .query(
                    "app", "As for the page.", ["type": "string", "maxLength": 255],
                    example: "com.example.app"),
                .query("ui_locales", "As for the page.", ["type": "string"], example: "pl"),
            ],
            takes: .content(
                .connectionsForm,
                example: [
                    "csrf_token": "Zk3vTq8mWc5yRb1nXe7hLgPq2sUd4fJ6kM9oA0iBtCw",
                    "grant": "grt_01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b",
                ]),
            returns: [
                .shared(303, "Redirect"),
                .shared(403, "Page"),
            ])
    ) { $0.remove($1) }

    static let endSession = Endpoint(
        "endSession", .get, "/oauth/logout", of: \.logout, caller: .anyone, body: .none, errors: .page,
        priority: .ordinary, fields: .browser,
        Operation(
            .oauth,
            "Ends the session of a browser (OpenID Connect RP-Initiated Logout 1.0). Clients send the browser here.",
            text: """
                With an ID token of the session's user the session ends at once. Otherwise a page asks the user.
                Then the browser goes to `post_logout_redirect_uri` with `state` if the client has registered
                exactly this URI, and sees a page if it has not. Grants and tokens stay.
                """,
            parameters: [
                .query(
                    "id_token_hint",
                    "The last ID token of the session. It may have expired. More than 8192 bytes count as no token.",
                    ["type": "string"], example: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhY2MifQ.c2ln"),
                .query(
                    "client_id", "The ID of the client. With an ID token it must be the ID in `aud`.",
                    ["type": "string", "maxLength": 128], example: "example-site"),
                .query(
                    "post_logout_redirect_uri",
                    "One of `post_logout_redirect_uris` of the client, byte for byte.",
                    ["type": "string", "maxLength": 2048], example: "https://www.example.com/signed-out"),
                .query(
                    "state", "A value of the client. It is returned unchanged.",
                    ["type": "string", "maxLength": 4096], example: "a5c1f0e2"),
                .query(
                    "ui_locales", "The languages of the page (BCP 47).", ["type": "string"], example: "pl en"),
            ],
            returns: [
                .shared(200, "LogoutPage"),
                .shared(303, "Redirect"),
                .shared(400, "Page"),
            ])
    ) { $0.begin($1) }

    /// Accepts posts from a client's page, which has its own origin: nothing changes until the user agrees or
    /// the service has verified an ID token. A token protects our own page's form against forgery.
    static let postEndSession = Endpoint(
        "postEndSession", .post, "/oauth/logout", of: \.logout, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others,
        Operation(
            .oauth, "The same parameters as a form, or the form of the page.",
            takes: .content(
                .logoutForm,
                example: [
                    "client_id": "example-site",
                    "post_logout_redirect_uri": "https://www.example.com/signed-out", "state": "a5c1f0e2",
                ]),
            returns: [
                .shared(200, "LogoutPage"),
                .shared(303, "Redirect"),
                .shared(400, "Page"),
                .shared(403, "Page"),
            ])
    ) { $0.post($1) }

    static let showDevicePage = Endpoint(
        "showDevicePage", .get, "/oauth/device", of: \.devicePages, caller: .anyone, body: .none,
        errors: .page, priority: .ordinary, fields: .browser,
        Operation(
            .oauth, "The page for the users of devices without a browser (RFC 8628 §3.3).",
            text: """
                Asks for the code that a device shows, signs the user in with Apple, and asks for consent. Served
                where an OAuth client has `allow_device_grant`.
                """,
            parameters: [
                .query(
                    "user_code",
                    "The code, without regard to case, dashes and spaces. Without it the page asks for the code.",
                    ["type": "string", "maxLength": 64], example: "BCDF-GHJK"),
                .query(
                    "entered",
                    """
                    Set by the form of the page itself. The page then leads to the sign-in by a page in place of a
                    redirect.
                    """, ["type": "string"], example: "1"),
                .query(
                    "prompt",
                    "`select_account` asks for a sign-in with another account first. Other values are ignored.",
                    ["type": "string"], example: "select_account"),
                .query(
                    "ui_locales", "The languages of the page (BCP 47). `user_locale` has precedence.",
                    ["type": "string"], example: "pl en"),
                .query(
                    "user_locale", "The language of the page (BCP 47).", ["type": "string"], example: "pl-PL"),
            ],
            returns: [
                .shared(200, "DevicePage"),
                .shared(303, "Redirect"),
                .shared(400, "DevicePage"),
                .shared(403, "Page"),
                .shared(429, "DevicePage"),
            ])
    ) { $0.show($1) }

    /// Handles a form submitted from the device page. As on the consent page, the browser hides the page's
    /// origin, so a token protects the form against forgery.
    static let answerDevicePage = Endpoint(
        "answerDevicePage", .post, "/oauth/device", of: \.devicePages, caller: .anyone, body: .pageForm,
        errors: .page, priority: .ordinary, fields: .browser, origins: .others,
        Operation(
            .oauth, "Receives the user's decision about a device.",
            parameters: [
                .query(
                    "user_code", "As for the page.", ["type": "string", "maxLength": 64], example: "BCDF-GHJK"
                ),
                .query("prompt", "As for the page.", ["type": "string"], example: "select_account"),
                .query("ui_locales", "As for the page.", ["type": "string"], example: "pl"),
            ],
            takes: .content(
                .consentForm,
                example: ["csrf_token": "Zk3vTq8mWc5yRb1nXe7hLgPq2sUd4fJ6kM9oA0iBtCw", "decision": "agree"]),
            returns: [
                .shared(200, "DevicePage"),
                .shared(400, "DevicePage"),
                .shared(403, "Page"),
                .shared(429, "DevicePage"),
            ])
    ) { $0.response($1) }
}
