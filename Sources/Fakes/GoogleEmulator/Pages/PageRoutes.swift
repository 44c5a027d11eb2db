import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import Pages

/// The pages: the Google app, and the user's iPhone app.
struct PageRoutes: Sendable {
    let state: GoogleState
    /// Token of the forms (CSRF).
    let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: GoogleState) { self.state = state }

    private var linking: Linking { Linking(state: state) }

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in home }
        for path in ["r/:name", "a/:name"] as [RouterPath] {
            router.get(path) { request, _ in
                let fields = FormEncoding.decode((request.uri.query ?? "").utf8) ?? []
                let base = state.update { $0.baseURL }
                let link = try await linking.receiveResponse(fields, at: base + request.uri.path)
                // The redirect removes the URL with the code from the browser's history.
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
            switch form["action"] {
            case "refresh": _ = try await linking.refresh(form["link"])
            case "call": _ = try await linking.call(form["link"])
            case "unlink": _ = try await linking.unlink(form["link"])
            default: throw EmulatorError(.memberMalformed, detail: "action")
            }
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
            HTML.section {
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

    /// The user's iPhone app after it has received the universal link: the app checks the link and asks for
    /// consent.
    private func app(_ link: AppFlipLink) -> Response {
        .page(.phone, "Your iPhone app") {
            "<h1>Google asks to link your account</h1>"
            HTML.section("The universal link") { HTML.codes(link.fields.map { ($0.name, $0.value) }) }
            switch AppFlipApp(state: state).check(link) {
            case .fine:
                HTML.section {
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
                HTML.section {
                    """
                    <p>client_id is not the one that the app knows. The app opens redirect_uri with \
                    <code>invalid_request</code>, and Google goes on in the browser.</p>
                    """
                    HTML.button("Open the Google app", to: link.url(error: "invalid_request"))
                }
            case .otherRedirectURI:
                HTML.section {
                    "<p>redirect_uri is not one of Google's. The app opens nothing.</p>"
                    "<a class=\"button\" href=\"/\">Back to Google</a>"
                }
            }
        }
    }

    /// The response to the app's backend, and the URL that the app opens.
    private func opened(_ url: String, after response: ServerClient.Response) -> Response {
        .page(.phone, "Your iPhone app") {
            "<h1>Back to Google</h1>"
            HTML.section {
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
    /// Names with their values, which are text of protocols. Omits names without a value.
    static func codes(_ rows: [(name: String, value: String?)]) -> HTML {
        .table(rows.map { ($0.name, $0.value.map { .code($0) }) })
    }

    /// A text field of a form.
    ///
    /// - Parameter hint: Words in the empty field.
    static func input(_ label: String, _ name: String, value: String? = nil, hint: String? = nil) -> HTML {
        let content: HTML = value.map { "value=\"\($0)\"" } ?? "placeholder=\"\(hint)\""
        return """
            <label>\(label)<input type="text" name="\(name)" \(content) autocomplete="off" maxlength="512"></label>
            """
    }

    /// A link to another server, as the main button of a page.
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

    /// A refusal, for a browser.
    static func refusalPage(_ error: EmulatorError) -> Response {
        .page(.google, "Not possible", error.code.status) { error.content }
    }
}
