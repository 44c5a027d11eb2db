import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import Pages

/// `/`, the page with all accounts, and the actions of its buttons; and `/site`, a page in place of the
/// developer's own site.
struct AccountsRoute: Sendable {
    static let changePassword = "change-password"
    static let signIn = "sign-in-on-iphone"
    static let send = "send-to-siwa"

    let state: EmulatorState
    let post: NotificationDispatcher
    /// A random token for the forms (CSRF). Another site can submit a form to the emulator from a developer's
    /// browser, but cannot read this token.
    let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: EmulatorState, post: NotificationDispatcher) {
        (self.state, self.post) = (state, post)
    }

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("/") { request, _ in
            await respond { () throws(OAuthError) in
                try accounts(FormFields((request.uri.query ?? "").utf8))
            }
        }
        router.get("site") { request, _ in
            await respond { () throws(OAuthError) in try site(FormFields((request.uri.query ?? "").utf8)) }
        }
        router.post("accounts") { request, _ in
            await respond { () async throws(OAuthError) in
                let form = try await FormFields(bodyOf: request)
                try check(form)
                if form["action"] == Self.signIn { return try signIn(form) }
                if form["action"] == Self.send { return try await send(form) }
                try await act(form)
                let back = try UserPage(of: state.users, form).location
                // A redirect, so that reloading the page does not repeat the action.
                return EndpointResponse(status: 303, headers: [.init(name: "Location", value: back)])
            }
        }
    }

    private func respond(_ work: () async throws(OAuthError) -> EndpointResponse) async -> Response {
        do throws(OAuthError) {
            return try await work().hummingbird
        } catch {
            return EndpointResponse.failurePage(error).hummingbird
        }
    }

    private func check(_ form: FormFields) throws(OAuthError) {
        guard ConstantTime.areEqual(Array(try form.require("token").utf8), Array(token.utf8)) else {
            throw OAuthError(.invalidRequest, "this page is from an earlier run; reload it")
        }
    }

    private func act(_ form: FormFields) async throws(OAuthError) {
        let (subject, action) = (try form.require("sub"), try form.require("action"))
        do throws(EmulatorError) {
            if action == Self.changePassword { return try state.changePassword(of: subject) }
            guard let change = AccountChange(rawValue: action) else {
                throw EmulatorError(.parameterMalformed, detail: "action")
            }
            var recipe = NotificationRecipe()
            recipe.subject = subject
            recipe.clientID = form["client_id"]
            for notification in try state.change(change, notifying: recipe).notifications {
                if let target = state.notificationTarget { _ = await post.announce(notification, to: target) }
            }
        } catch {
            throw OAuthError(.invalidRequest, error.description)
        }
    }
}

extension AccountsRoute {
    /// The page with all accounts and their settings, like those on an iPhone.
    private func accounts(_ query: FormFields) throws(OAuthError) -> EndpointResponse {
        let (users, url) = (state.users, state.notificationTarget?.url)
        let page = try UserPage(of: users, query)
        let target: HTML = url.map { " to \(HTML.code($0))" } ?? " when a notification URL is set"
        return .page("Fake Apple", isWide: true) {
            "<h1>Emulated Apple accounts</h1>"
            "<p>For each change, Apple sends a notification to the apps\(target).</p>"
            page.searchForm("/")
            for user in page.users { account(user, on: page) }
            page.pager("/")?.html
            notifications(to: users)
        }
    }

    private func account(_ user: EmulatedUser, on page: UserPage) -> HTML {
        let relays = user.identities.map { HTML.code($0.relayAddress) }.joined(separator: ", ")
        let hiding: HTML? = user.hidesEmail ? "<br>Hides the address. Apps see \(relays)" : nil
        return .section(look: "account") {
            """
            <div class="person">\(user.line)\(user.isDeleted ? HTML.span("tag", "deleted") : nil)</div>
            <p class="note"><code>\(user.subject)</code>\(hiding)</p>
            """
            if !user.isDeleted { Division("row") { buttons(user, on: page) } }
        }
    }

    private func buttons(_ user: EmulatedUser, on page: UserPage) -> HTML {
        func button(_ action: String, _ words: String, app: String? = nil, look: String? = nil) -> HTML {
            // The fields select the current page, so that the same page is shown after the action.
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

    private func notifications(to users: [EmulatedUser]) -> HTML {
        let deliveries = state.recentDeliveries
        let subjects = Set(deliveries.map(\.subject))
        var names: [String: String] = [:]
        for user in users {
            for identity in user.identities where subjects.contains(identity.subject) {
                names[identity.subject] = user.shownName
            }
        }
        return .section("Notifications, newest first", look: "account") {
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

    /// A page in place of the developer's own site, which shows the result of sign-in on the web.
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
