import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import Pages
public import StrictJSON
import Synchronization

/// Handles `/`, the page with all accounts, and the actions of its buttons. Also handles `/site`, a page that
/// stands in for the developer's site.
struct AccountsRoute: Sendable {
    static let changePassword = "change-password"
    static let signIn = "sign-in-on-iphone"
    static let send = "send-to-siwa"

    let state: EmulatorState
    let post: NotificationDispatcher
    /// A random token that protects the forms against forgery (CSRF). Another site can make a developer's
    /// browser submit a form to the emulator, but cannot read this token.
    let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("/") { request, _ in
            try await respond { try accounts(FormFields((request.uri.query ?? "").utf8)) }
        }
        router.get("site") { request, _ in
            try await respond { try site(FormFields((request.uri.query ?? "").utf8)) }
        }
        router.post("accounts") { request, _ in
            try await respond {
                let form = try await FormFields(bodyOf: request)
                try check(form)
                if form["action"] == Self.signIn { return try await signIn(form) }
                if form["action"] == Self.send { return try await send(form) }
                try await act(form)
                let back = try UserPage(of: state.users, form).location
                // Redirects, so that reloading the page does not repeat the action.
                return EndpointResponse(status: 303, headers: [.init(name: "Location", value: back)])
            }
        }
    }

    private func respond(_ work: () async throws -> EndpointResponse) async throws -> Response {
        do {
            return try await work().hummingbird
        } catch let error as OAuthError {
            return EndpointResponse.failurePage(error).hummingbird
        } catch let error as EmulatorError {
            return EndpointResponse.failurePage(OAuthError(.invalidRequest, error.description)).hummingbird
        }
    }

    private func check(_ form: FormFields) throws(OAuthError) {
        guard ConstantTime.areEqual(Array(try form.require("token").utf8), Array(token.utf8)) else {
            throw OAuthError(.invalidRequest, "this page is from an earlier run; reload it")
        }
    }

    private func act(_ form: FormFields) async throws {
        let (subject, action) = (try form.require("sub"), try form.require("action"))
        if action == Self.changePassword { return try state.changePassword(of: subject) }
        guard let change = AccountChange(rawValue: action) else {
            throw EmulatorError(.parameterMalformed, detail: "action")
        }
        var recipe = NotificationRecipe()
        recipe.subject = subject
        recipe.clientID = form["client_id"]
        for notification in try await state.change(change, notifying: recipe).notifications {
            if let target = state.notificationTarget { _ = await post.announce(notification, to: target) }
        }
    }
}

extension AccountsRoute {
    /// Returns the page with all accounts and their settings, similar to the Settings app of an iPhone.
    private func accounts(_ query: FormFields) throws(OAuthError) -> EndpointResponse {
        let (users, url) = (state.users, state.notificationTarget?.url)
        let page = try UserPage(of: users, query)
        let target: HTML = url.map { " to \(HTML.code($0))" } ?? " when a notification URL is set"
        return .page("Fake Apple", isWide: true) {
            "<h1>Emulated Apple accounts</h1>"
            """
            <p>For each change, Apple sends a notification to the apps\(target). Tests do the same by the \
            <a href="/emulator/api">control API</a>.</p>
            """
            page.searchForm("/")
            for user in page.users { account(user, on: page) }
            page.pager("/")?.html
            notifications(to: users)
        }
    }

    private func account(_ user: EmulatedUser, on page: UserPage) -> Card {
        let relays = user.identities.map { HTML.code($0.relayAddress) }.joined(separator: ", ")
        let hiding: HTML? = user.hidesEmail ? "<br>Hides the address. Apps see \(relays)" : nil
        return Card(look: "account") {
            """
            <div class="person">\(user.line)\(user.isDeleted ? HTML.span("tag", "deleted") : nil)</div>
            <p class="note"><code>\(user.subject)</code>\(hiding)</p>
            """
            if !user.isDeleted { Division("row") { buttons(user, on: page) } }
        }
    }

    private func buttons(_ user: EmulatedUser, on page: UserPage) -> HTML {
        func button(_ action: String, _ words: String, app: String? = nil, look: String? = nil) -> HTML {
            // The fields identify the current page, so that the browser returns to it after the action.
            let fields =
                [("token", token)] + page.fields + [("sub", user.subject)]
                + (app.map { [("client_id", $0)] } ?? [])
            return .form(to: "/accounts", fields) {
                "<button\(HTML.class(look)) name=\"action\" value=\"\(action)\">\(words)</button>"
            }
        }
        let apps = state.apps.map(\.primaryClientID)
        return HTML {
            for app in apps {
                let words = apps.count == 1 ? "Sign in on an iPhone" : "Sign in to \(app) on an iPhone"
                button(Self.signIn, words, app: app, look: "main")
            }
            for app in user.apps.sorted() {
                button(AccountChange.revokeConsent.rawValue, "Stop using \(app)", app: app)
            }
            if user.forwardsEmail {
                button(AccountChange.disableForwarding.rawValue, "Turn off e-mail forwarding")
            } else {
                button(AccountChange.enableForwarding.rawValue, "Turn on e-mail forwarding")
            }
            button(Self.changePassword, "Change password")
            button(AccountChange.deleteAccount.rawValue, "Delete Apple account", look: "danger")
        }
    }

    private func notifications(to users: [EmulatedUser]) -> Card {
        let deliveries = state.recentDeliveries
        let subjects = Set(deliveries.map(\.subject))
        var names: [String: String] = [:]
        for user in users {
            for identity in user.identities where subjects.contains(identity.subject) {
                names[identity.subject] = user.shownName
            }
        }
        return Card("Notifications, newest first", look: "account") {
            Table(
                nil, ["Time", "Event", "User", "App", "Response"], deliveries.reversed(),
                ifEmpty: "No notifications yet."
            ) {
                [
                    .text(RFC3339.text(milliseconds: $0.postedAt)), .text($0.type),
                    .text(names[$0.subject] ?? $0.subject), .text($0.clientID),
                    .span($0.outcome == "200" ? "good" : "bad", .text($0.outcome)),
                ]
            }
        }
    }

    /// Returns the page that stands in for the developer's site and shows the result of a sign-in on the web.
    private func site(_ query: FormFields) -> EndpointResponse {
        let rows = ["code", "state", "error", "error_description"].map { name in
            (name, query[name].map { HTML.code($0) })
        }
        return .page("Your site") {
            "<h1>This page is your site</h1>"
            if query["code"] == nil {
                "<p>No user has signed in.</p>"
            } else {
                "<p>The backend of your site exchanges this code for the user.</p>"
            }
            HTML.table(rows)
        }
    }
}

extension AccountsRoute {
    /// Maximum nonce length in bytes.
    private static let longestNonce = 512

    /// Signs a user in to a native app. A button stands in for Apple's sheet, which is not a web page on an
    /// iPhone. Each press of the button is a new sign-in. The page shows the values that the app receives,
    /// and the request that the app's backend sends to the service.
    func signIn(_ form: FormFields) async throws -> EndpointResponse {
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.clientID) = (try form.require("sub"), try form.require("client_id"))
        (recipe.authorizationCode, recipe.nonce) = (.made, form["nonce"])
        guard recipe.nonce?.utf8.count ?? 0 <= Self.longestNonce else {
            throw OAuthError(.invalidRequest, "a nonce must have at most \(Self.longestNonce) bytes")
        }
        return page(of: try state.user(recipe.subject), try await state.mint(recipe))
    }

    private func page(of user: EmulatedUser, _ minted: MintedIdentityToken) -> EndpointResponse {
        let values: [(name: String, value: String?)] = [
            ("identity_token", minted.identityToken), ("authorization_code", minted.authorizationCode),
            ("user", minted.user.map { String(decoding: $0.json(), as: UTF8.self) }),
        ]
        let members = values.compactMap { name, value in value.map { "\(name)\n\($0)" } }
        let body = String(decoding: SignInBody(minted, clientID: minted.clientID).json(), as: UTF8.self)
        let again = [
            ("token", token), ("action", Self.signIn), ("sub", user.subject), ("client_id", minted.clientID),
        ]
        return .page("Sign in on an iPhone", isWide: true) {
            "<h1>Signed in on an iPhone</h1>"
            Card(look: "account") {
                """
                <div class="person">\(user.line)</div>
                <p>The app <b>\(minted.clientID)</b> gets an identity token, which is good for a day, and a code, \
                which is good once and for five minutes. \(Self.gift(isFirst: minted.user != nil))</p>
                <pre>\(members.joined(separator: "\n\n"))</pre>
                """
            }
            Card("What the backend posts to siwa", look: "account") {
                """
                <p>SIWA_API_KEY is an API key of the service. <code>siwa dev</code> takes siwa_development.</p>
                <pre>\(command(posting: body))</pre>
                """
                if state.appBackend.withLock({ $0 != nil }) {
                    let fields = [("token", token), ("action", Self.send), ("sign_in", body)]
                    HTML.form(to: "/accounts", fields) { "<button class=\"main\">Send to siwa</button>" }
                }
                "<p><a href=\"/\">Back to the accounts</a></p>"
            }
            Card("With a nonce", look: "account") {
                """
                <p>nonce_sha256 of <code>POST /v1/nonces</code>. The sign-in then needs the nonce beside the \
                token.</p>
                """
                HTML.form(to: "/accounts", again) {
                    """
                    <label for="nonce">Nonce in the token</label>\
                    <input id="nonce" type="text" name="nonce" maxlength="\(Self.longestNonce)" \
                    value="\(minted.nonce)"><button>Sign in once more</button>
                    """
                }
            }
        }
    }

    private static func gift(isFirst: Bool) -> String {
        isFirst
            ? "This is the first time, so the app gets the name and the address beside the token too."
            : "The user has used the app before, so Apple does not tell the name again."
    }

    private func command(posting json: String) -> String {
        let path = "/v1/apple/notifications"
        let service = state.notificationTarget.flatMap { target in
            target.url.hasSuffix(path) ? String(target.url.dropLast(path.count)) : nil
        }
        // Between single quotes, a shell keeps every character unchanged except the single quote itself.
        let quoted = json.replacing("'", with: #"'\''"#)
        return """
            curl -sS \(service ?? "$SIWA")/v1/sign-ins -H "Authorization: Bearer $SIWA_API_KEY" --json '\(quoted)'
            """
    }

    /// Makes the app's backend post a sign-in to the service, and shows the response.
    func send(_ form: FormFields) async throws(OAuthError) -> EndpointResponse {
        guard let backend = state.appBackend.withLock({ $0 }) else {
            throw OAuthError(.invalidRequest, "no backend runs beside this fake Apple; use the command")
        }
        let json = try? JSONValue(parsing: Array(try form.require("sign_in").utf8))
        guard let signIn = json?.object else {
            throw OAuthError(.invalidRequest, "sign_in is no JSON object")
        }
        let answer: AppBackendAnswer
        do {
            answer = try await backend(signIn)
        } catch {
            throw OAuthError(.invalidRequest, "the backend got no answer: \(error)")
        }
        let isTaken = (200..<300).contains(answer.status)
        let result: HTML = isTaken ? "The person in the console" : "The request in the console"
        return .page("Sent to siwa", isWide: true) {
            "<h1>siwa has \(isTaken ? "" : "not ")taken the sign-in</h1>"
            Card(look: "account") {
                """
                <p>The response to <code>POST /v1/sign-ins</code> has status <b>\(answer.status)</b>.\
                \(answer.page.map { " \(HTML.link(result, to: $0))" as HTML })</p>
                <pre>\(answer.body?.indented() ?? "no JSON")</pre>
                <p><a href="/">Back to the accounts</a></p>
                """
            }
        }
    }
}

/// The backend of an app that runs alongside the fake Apple. It posts a sign-in to the service, as a real
/// app's backend does.
public typealias AppBackend = @Sendable (_ signIn: JSONObject) async throws -> AppBackendAnswer

/// The service's response to the backend.
///
/// - page: URL of a page that shows the outcome.
public typealias AppBackendAnswer = (status: Int, body: JSONValue?, page: String?)
