import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import Pages

/// The pages that belong to the Google app and to the user's iPhone app.
struct PageRoutes: Sendable {
    let state: GoogleState
    /// Random token that protects the forms against forgery (CSRF).
    let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    private var linking: Linking { Linking(state: state) }

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in home }
        for path in ["r/:name", "a/:name"] as [RouterPath] {
            router.get(path) { request, _ in
                let fields = FormEncoding.decode((request.uri.query ?? "").utf8) ?? []
                let base = state.update { $0.baseURL }
                let link = try await linking.receiveResponse(fields, at: base + request.uri.path)
                // The response redirects, so that the browser's history does not keep the URL with the code.
                return Response.seeOther("/#link-\(link.id)")
            }
        }
        router.post("link") { request, _ in
            let form = try await PageForm(request, token: token)
            var wanted = LinkRequest()
            wanted.mode = form["mode"] == AccountLink.Mode.appFlip.rawValue ? .appFlip : .browser
            wanted.scope = form["scope"]
            wanted.userLocale = form["user_locale"]
            wanted.loginHint = form["login_hint"]
            wanted.usesPKCE = form["pkce"] != nil
            return open(try linking.begin(wanted))
        }
        router.post("links") { request, _ in
            let form = try await PageForm(request, token: token)
            guard let action = LinkAction.all.first(where: { $0.name == form["action"] }) else {
                throw EmulatorError(.memberMalformed, detail: "action")
            }
            _ = try await action.carryOut(linking, form["link"])
            return Response.seeOther("/")
        }
        router.post("streamlined") { request, _ in
            let form = try await PageForm(request, token: token)
            var account = GoogleAccount()
            if let email = form["email"] { account.email = email }
            if let subject = form["sub"] { account.subject = subject }
            guard let intent = StreamlinedIntent(rawValue: form["intent"] ?? "") else {
                throw EmulatorError(.memberMalformed, detail: "intent")
            }
            _ = try await linking.streamlined(intent, account, scope: nil)
            return Response.seeOther("/")
        }
        router.post("events") { request, _ in
            let form = try await PageForm(request, token: token)
            var event = SentEvent()
            event.type = form["type"].flatMap { SentEventType(rawValue: $0) } ?? .sessionsRevoked
            event.subject = form["sub"]
            if event.type == .accountDisabled { event.reason = form["reason"] }
            if event.type == .tokenRevoked { event.refreshToken = try linking.link(nil).refreshToken }
            event.state = "test"
            _ = try await linking.send(event)
            return Response.seeOther("/")
        }
        addApp(to: router)
    }

    private func addApp(to router: Router<BasicRequestContext>) {
        router.get("app/link") { request, _ in
            let link = AppFlipLink(FormEncoding.decode((request.uri.query ?? "").utf8) ?? [])
            return app(link)
        }
        router.post("app/decision") { request, _ in
            let form = try await PageForm(request, token: token)
            let (link, app) = (AppFlipLink(form.parameters), AppFlipApp(state: state))
            guard app.check(link) == .fine, let decision = AppFlipDecision(rawValue: form["decision"] ?? "")
            else { throw EmulatorError(.memberMalformed, detail: "decision") }
            var identity: AppFlipIdentity?
            if decision == .granted {
                if let id = form["account_id"] {
                    identity = .accountID(id)
                } else {
                    identity = .identityToken(try await app.identityToken(subject: form["sub"]))
                }
            }
            let (url, response) = try await app.decide(decision, link, identity: identity)
            return opened(url, after: response)
        }
    }
}

extension PageRoutes {
    /// Shows the URL that Google opens, with its parameters, and opens it.
    private func open(_ start: LinkStart) -> Response {
        let isAppFlip = start.begun.mode == .appFlip
        return .page(.google, "Link") {
            "<h1>Google opens \(isAppFlip ? "your app" : "the authorization URL")</h1>"
            Card {
                "<pre>\(ShownText.url(start.url))</pre>"
                if isAppFlip {
                    """
                    <p>On an iPhone this is a universal link. Here it opens a page that plays your app.</p>
                    """
                } else {
                    """
                    <p>The user signs in and agrees there. The response comes back to redirect_uri with the same \
                    state.</p>
                    """
                }
                """
                <div class="row">\(HTML.button("Continue", to: start.url))
                <a class="button" href="/">Cancel</a></div>
                """
            }
        }
    }

    /// Returns the page that the user's iPhone app shows after it has received the universal link. The app
    /// checks the link and asks for consent.
    private func app(_ link: AppFlipLink) -> Response {
        .page(.phone, "Your iPhone app") {
            "<h1>Google asks to link your account</h1>"
            Card("The universal link") { HTML.codes(link.fields.map { ($0.name, $0.value) }) }
            switch AppFlipApp(state: state).check(link) {
            case .fine:
                Card {
                    "<p>client_id and redirect_uri are the ones that the app knows. It asks:</p>"
                    HTML.form(to: "/app/decision", [("token", token)] + link.fields) {
                        """
                        \(HTML.input("Sign in with the fake Apple as (user ID)", "sub", hint: "the usual user"))
                        \(HTML.input(
                            "or an account ID, if the user is signed in already", "account_id", hint: "acc_…"))
                        <div class="row"><button class="main" name="decision" value="granted">Agree and link</button>
                        <button name="decision" value="denied">Refuse</button>
                        <button name="decision" value="cancelled">Cancel</button></div>
                        """
                    }
                }
            case .otherClient:
                Card {
                    """
                    <p>client_id is not the one that the app knows. The app opens redirect_uri with \
                    <code>invalid_request</code>, and Google goes on in the browser.</p>
                    """
                    HTML.button("Open the Google app", to: link.url(error: "invalid_request"))
                }
            case .otherRedirectURI:
                Card {
                    "<p>redirect_uri is not one of Google's. The app opens nothing.</p>"
                    "<a class=\"button\" href=\"/\">Back to Google</a>"
                }
            }
        }
    }

    /// Returns the page with the response that the app's backend received, and the URL that the app opens.
    private func opened(_ url: String, after response: ServerClient.Response) -> Response {
        .page(.phone, "Your iPhone app") {
            "<h1>Back to Google</h1>"
            Card {
                if let status = response.status {
                    "<p>The backend's response has status \(status).</p>"
                } else {
                    "<p>The backend could not be reached, so the app makes the cancelled URL itself.</p>"
                }
                """
                <pre>\(ShownText.body(response.body))</pre>
                <p>The app opens this URL as it is:</p>
                <pre>\(ShownText.url(url))</pre>
                """
                HTML.button("Open the Google app", to: url)
            }
        }
    }
}

extension HTML {
    /// Returns a table of names with their values, which the page shows as code. Omits names without a value.
    static func codes(_ rows: [(name: String, value: String?)]) -> HTML {
        .table(rows.map { ($0.name, $0.value.map { .code($0) }) })
    }

    /// Returns a text field for a form.
    ///
    /// - Parameter hint: Text shown in the empty field.
    static func input(_ label: String, _ name: String, value: String? = nil, hint: String? = nil) -> HTML {
        let content: HTML = value.map { "value=\"\($0)\"" } ?? "placeholder=\"\(hint)\""
        return """
            <label>\(label)<input type="text" name="\(name)" \(content) autocomplete="off" maxlength="512"></label>
            """
    }

    /// Returns a link to another server, styled as the page's main button.
    fileprivate static func button(_ words: HTML, to url: String) -> HTML {
        "<a class=\"button main\" rel=\"noreferrer\" href=\"\(url)\">\(words)</a>"
    }
}

extension Response {
    /// The app that a page belongs to.
    enum PageApp: String {
        case google = "Fake Google"
        case phone = "Your iPhone app"
    }

    /// - Parameter isWide: True for a page with two columns.
    static func page(
        _ app: PageApp, _ title: String, _ status: HTTPResponse.Status = .ok, isWide: Bool = false,
        @PageBuilder _ content: () -> HTML
    ) -> Response {
        PageDocument(
            title: title, heading: app.rawValue, content: content(), style: PackageResources.style_css,
            bodyClass: app == .phone ? "phone" : isWide ? "home wide" : "home"
        ).response(status)
    }

    /// Returns the page for a refused request.
    static func refusalPage(_ error: EmulatorError) -> Response {
        .page(.google, "Not possible", error.code.status) { error.content }
    }
}

extension PageRoutes {
    /// The Google app's page. It creates links, uses them, and shows every request and response.
    var home: Response {
        let exchanges = state.exchanges
        return .page(.google, "Fake Google", isWide: true) {
            "<h1>Link your account</h1>"
            "<p>Tests use the <a href=\"/control/api\">control API</a>.</p>"
            "<div class=\"columns\"><div>"
            linkForm
            Card("Links, newest first") {
                for link in state.links.reversed() { section(of: link) }
                if state.links.isEmpty { "<p>None yet.</p>" }
            }
            streamlinedForm
            events
            setup
            "</div><div>"
            Card("Every request and answer, newest first", id: "exchanges") {
                for exchange in exchanges.reversed() {
                    Details("\(exchange.number). \(exchange.title)", isOpen: exchange == exchanges.last) {
                        CodeBlock("Request \(exchange.number)", exchange.request)
                        CodeBlock("Response \(exchange.number)", exchange.response)
                    }
                }
                if exchanges.isEmpty { "<p>None yet.</p>" }
            }
            "</div></div>"
        }
    }

    private var linkForm: Card {
        let scope = state.configuration.scopes.joined(separator: " ")
        return Card("Link with the app") {
            HTML.form(to: "/link", [("token", token)]) {
                """
                <div class="row">
                \(HTML.input("Scope", "scope", value: scope))
                \(HTML.input("user_locale", "user_locale", hint: "en, ar, tr, pl"))
                \(HTML.input("login_hint", "login_hint", hint: "none"))
                </div>
                <label class="check"><input type="checkbox" name="pkce" value="1" checked> with PKCE</label>
                <div class="row">
                <button class="main" name="mode" value="browser">Link in the browser</button>
                <button name="mode" value="app_flip">Link with your iPhone app (App Flip)</button>
                </div>
                """
            }
        }
    }

    /// Returns the section for a link. Even an ended link has buttons, to show how the server refuses it.
    private func section(of link: AccountLink) -> HTML {
        HTML {
            "<div class=\"link\" id=\"link-\(link.id)\">"
            "<p>Link \(link.id) \(link.mode.words): \(link.state)</p>"
            HTML.codes([
                ("scope", link.scope), ("access token", link.shownToken),
                ("refresh token", link.refreshToken.map { ShownText.shortened($0) }),
                ("Google account", link.subject), ("the app's API says", link.introspection),
                ("the app's account", link.account),
            ])
            if link.accessToken != nil {
                HTML.form(to: "/links", [("token", token), ("link", link.id)]) {
                    """
                    <div class="row"><button name="action" value="refresh">Refresh</button>
                    <button name="action" value="call">Call the app's API</button>
                    """
                    if link.status == .linked { "<button name=\"action\" value=\"unlink\">Unlink</button>" }
                    "</div>"
                }
            }
            "</div>"
        }
    }

    private var streamlinedForm: Card {
        let account = GoogleAccount()
        return Card("Streamlined linking") {
            """
            <p>Google sends its ID token to the token endpoint: <b>check</b> asks whether there is an account, \
            <b>get</b> asks for its tokens, <b>create</b> for a new account.</p>
            """
            HTML.form(to: "/streamlined", [("token", token)]) {
                """
                <div class="row">
                \(HTML.input("Google account (sub)", "sub", value: account.subject))
                \(HTML.input("E-mail address", "email", value: account.email))
                </div>
                <div class="row"><button name="intent" value="check">check</button>
                <button name="intent" value="get">get</button>
                <button name="intent" value="create">create</button></div>
                """
            }
        }
    }

    private var events: Card {
        let types = SentEventType.allCases.map { ($0.rawValue, $0.rawValue) }
        let reasons = ["hijacking", "bulk-account"].map { ($0, $0) }
        return Card("Security events of the server", id: "events") {
            Table(
                nil, ["Event", "Link", "Hash", "Delivered"], state.receivedEvents.reversed(),
                ifEmpty: "None yet. The server sends one when a link ends there; reload to see it."
            ) {
                [
                    .text($0.type), .text($0.linkID.map { "link \($0)" } ?? "unknown token"),
                    .code("\($0.tokenHash.prefix(16))…"), "\($0.deliveries)",
                ]
            }
            """
            <p><a class="button" href="/">Reload</a></p>
            <h2>Send an event of Google</h2>
            <p>\(receiver)</p>
            """
            HTML.form(to: "/events", [("token", token)]) {
                """
                <div class="row">
                <label>Event\(Select("type", types).html)</label>
                \(HTML.input("Google account (sub)", "sub", value: GoogleAccount().subject))
                <label>reason (account-disabled)\(Select("reason", reasons).html)</label>
                <button>Send</button></div>
                """
            }
        }
    }

    /// Describes the receiver registered for Google's events.
    private var receiver: HTML {
        guard let stream = state.update({ $0.events.stream }) else {
            return """
                No receiver is registered (<code>siwa google risc register</code>), so the event goes to the \
                linked server.
                """
        }
        let disabled = stream.isEnabled ? "" : ", which is disabled"
        return "The event goes to the registered receiver \(HTML.code(stream.url))\(disabled)."
    }

    private var setup: Card {
        let (configuration, server) = (state.configuration, try? state.server())
        return Card("What is typed into Google's console") {
            HTML.codes([
                ("authorization URL", server?.authorizationURL ?? "none"),
                ("token URL", server?.tokenURL ?? "none"), ("client_id", configuration.clientID),
                ("client_secret", ShownText.shortened(configuration.clientSecret)),
                ("project", configuration.projectID),
                ("aud of Google's tokens", configuration.googleClientID),
                ("redirect URI", state.redirectURIs[0]), ("redirect URI of App Flip", state.redirectURIs[1]),
            ])
            """
            <p>Google's own redirect URIs are at <code>https://oauth-redirect.googleusercontent.com</code>, which \
            does not lead here. So this server plays that host, and the client of the authorization server has \
            these addresses as <code>app_flip_test_redirect_uris</code>, which are for development only.</p>
            """
        }
    }
}

extension AccountLink.Mode {
    fileprivate var words: String {
        switch self {
        case .browser: "in the browser"
        case .appFlip: "by App Flip"
        case .streamlined: "by streamlined linking"
        }
    }
}

extension AccountLink {
    fileprivate var state: HTML {
        switch status {
        case .linked: return "<b class=\"good\">linked</b>, as far as Google knows"
        case .failed(let error):
            let next: HTML =
                goesOnInBrowser
                ? ". Google goes on in the browser: press <b>Link in the browser</b>."
                : mode == .appFlip ? ". Google ends linking." : ""
            return "<b class=\"bad\">failed</b> with \(HTML.code(error))\(next)"
        case .unlinkedByGoogle: return "<b class=\"bad\">unlinked</b> here, and revoked at the server"
        case .unlinkedByService: return "<b class=\"bad\">unlinked</b> by the server, which has sent an event"
        case .refused: return "<b class=\"bad\">ended</b>: the server answered invalid_grant"
        }
    }

    fileprivate var shownToken: String? {
        let end = expiresAt.map { ", until \(RFC3339.text(milliseconds: $0 * 1000))" }
        return accessToken.map { ShownText.shortened($0) + (end ?? "") }
    }

    /// Token state, as last reported by the app's API. Google and the server can temporarily disagree about
    /// the state.
    fileprivate var introspection: String? {
        isActive.map { isActive in
            guard !isActive else { return "the access token is active" }
            let words = "the access token is not active"
            guard status == .linked else { return words }
            return """
                \(words). Google learns why when it refreshes the token, or from a security event of the server.
                """
        }
    }
}
