import EmulatorServer
import HTTPTypes
import Hummingbird
import Pages

/// Handles `GET /auth/authorize`, and the forms on its page. The page needs no scripts, because each step is
/// a separate form.
struct AuthorizeEndpoint: Sendable {
    private static let path = "/auth/authorize"

    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .authorize)
        router.get("auth/authorize") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await respond { () throws(OAuthError) in
                    let (page, opened) = try state.open(FormFields((request.uri.query ?? "").utf8))
                    return chooser(page, opened, try UserPage(of: users))
                }
            }
        }
        router.post("auth/authorize") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await respond { () async throws(OAuthError) in
                    try await step(try await FormFields(bodyOf: request))
                }
            }
        }
    }

    private func respond(
        _ work: () async throws(OAuthError) -> EndpointResponse
    ) async -> EndpointResponse {
        do throws(OAuthError) {
            return try await work()
        } catch {
            state.count(error, on: .authorize)
            return .failurePage(error)
        }
    }

    private func step(_ form: FormFields) async throws(OAuthError) -> EndpointResponse {
        let page = try form.require("page")
        if form["cancel"] != nil { return deliver(try state.cancel(page)) }
        let request = try state.openPage(page)
        if let subject = form["allow"] {
            var sharing = Sharing(hidesEmail: form["email_choice"].map { $0 == "hide" })
            if form.has("first_name") || form.has("last_name") {
                sharing.name = (try name(form, "first_name"), try name(form, "last_name"))
            }
            return deliver(try await state.authorize(page, by: subject, sharing: sharing))
        }
        if let subject = form["choose"] { return try consent(page, request, subject) }
        if form["create"] != nil {
            var recipe = UserRecipe()
            recipe.firstName = try name(form, "first_name")
            recipe.lastName = try name(form, "last_name")
            // Every Apple Account has an e-mail address, so one is derived if the form has none.
            recipe.email = try name(form, "email").map { RecipeAddress.given($0) } ?? .derived
            guard let user = try? state.makeUser(recipe) else {
                throw OAuthError(.invalidRequest, "there are too many accounts; reset the emulator")
            }
            return try consent(page, request, user.subject)
        }
        return chooser(page, request, try UserPage(of: users, form))
    }

    /// Users who can sign in.
    private var users: [EmulatedUser] { state.users.filter { !$0.isDeleted } }

    private func name(_ form: FormFields, _ field: String) throws(OAuthError) -> String? {
        guard let text = form[field] else { return nil }
        guard text.utf8.count <= 320 else { throw OAuthError(.invalidRequest, "\(field) is too long") }
        return text
    }
}

// Pages for the two steps and for the response.
extension AuthorizeEndpoint {
    /// Returns the page for choosing or adding a user.
    private func chooser(
        _ page: String, _ request: AuthorizationRequest, _ users: UserPage
    ) -> EndpointResponse {
        let hidden = [(name: "page", value: page)]
        return .page("Sign in", formTargets: request.formTargets) {
            "<h1>Choose an account</h1>"
            "<p>Sign in to <b>\(request.clientID)</b>, with an emulated account.</p>"
            users.searchForm(Self.path, posts: true, hidden: hidden)
            HTML.form(to: Self.path, hidden) {
                for user in users.users {
                    "<button class=\"user\" name=\"choose\" value=\"\(user.subject)\">\(user.line)</button>"
                }
            }
            users.pager(Self.path, posts: true, hidden: hidden)?.html
            Details("Create an account") {
                HTML.form(to: Self.path, hidden) {
                    """
                    \(nameFields(first: "Ada", last: "Lovelace"))
                    <label for="email">E-mail address</label>
                    <input id="email" type="email" name="email" placeholder="generated from the name" maxlength="300">
                    <button class="main full" name="create" value="1">Create and continue</button>
                    """
                }
            }
            HTML.form(to: Self.path, hidden) {
                "<button class=\"plain full\" name=\"cancel\" value=\"1\">Cancel</button>"
            }
        }
    }

    private func nameFields(first: String?, last: String?) -> HTML {
        """
        <div class="pair">
        <div><label for="first">First name</label>\
        <input id="first" type="text" name="first_name" value="\(first)" maxlength="100"></div>
        <div><label for="last">Last name</label>\
        <input id="last" type="text" name="last_name" value="\(last)" maxlength="100"></div>
        </div>
        """
    }

    /// Returns the page that shows the requested values and asks for the user's consent.
    private func consent(
        _ page: String, _ request: AuthorizationRequest, _ subject: String
    ) throws(OAuthError) -> EndpointResponse {
        guard let user = try? state.user(subject), !user.isDeleted else {
            throw OAuthError(.invalidRequest, "there is no such account")
        }
        // Apple lets users choose the shared values only at the first authorization.
        let isFirst = state.isFirstAuthorization(of: user, clientID: request.clientID)
        return .page("Sign in", formTargets: request.formTargets) {
            "<h1>Sign in to \(request.clientID)?</h1>"
            "<p>\(Self.explanation(of: request, isFirst: isFirst))</p>"
            "<div class=\"person\">\(user.line)</div>"
            HTML.form(to: Self.path, [("page", page)]) {
                if isFirst, request.wantsName { nameFields(first: user.firstName, last: user.lastName) }
                if isFirst, request.wantsEmail { emailChoice(of: user) }
                """
                <button class="main full" name="allow" value="\(user.subject)">Continue</button>
                <button class="plain full" name="cancel" value="1" formnovalidate>Cancel</button>
                """
            }
        }
    }

    private func emailChoice(of user: EmulatedUser) -> HTML {
        func choice(_ value: String, isChosen: Bool, _ words: HTML, _ note: String) -> HTML {
            """
            <label class="choice">\
            <input type="radio" name="email_choice" value="\(value)"\(isChosen ? " checked" : "")>\
            <span>\(words)<small>\(note)</small></span></label>
            """
        }
        return HTML {
            "<fieldset><legend>E-mail</legend>"
            choice("share", isChosen: !user.hidesEmail, "Share my address", user.email ?? "none")
            choice(
                "hide", isChosen: user.hidesEmail, "Hide my address",
                "The app gets an address that forwards to you.")
            "</fieldset>"
        }
    }

    private static func explanation(of request: AuthorizationRequest, isFirst: Bool) -> String {
        guard isFirst else { return "You have used this app before. It gets no new data." }
        switch (request.wantsName, request.wantsEmail) {
        case (true, true): return "The app requests your name and your e-mail address, only this first time."
        case (true, false): return "The app requests your name, only this first time."
        case (false, true): return "The app requests your e-mail address."
        case (false, false): return "The app requests no personal data."
        }
    }

    private func deliver(_ response: AuthorizationResponse) -> EndpointResponse {
        guard response.mode != .formPost else { return formPost(response) }
        return EndpointResponse(
            status: 303,
            headers: [.init(name: "Location", value: response.location), EndpointResponse.noStore])
    }

    /// Sends the response to the redirect URI with a form. A script submits the form, or the user if scripts
    /// are disabled (OAuth 2.0 Form Post Response Mode).
    private func formPost(_ response: AuthorizationResponse) -> EndpointResponse {
        // The receiver may redirect the browser to any URL, including `intent:` and its own scheme, and
        // browsers apply the policy to redirects too. So the policy allows all targets, as Apple's page does.
        .page("Continue", formTargets: nil, script: "document.getElementById('answer').submit()") {
            "<h1>Return to the app</h1>"
            "<p>If nothing happens, press the button.</p>"
            """
            <form id="answer" method="post" action="\(response.redirectURI)">
            \(HTML.hidden(response.fields))
            <button class="main full">Continue</button>
            </form>
            """
        }
    }
}

extension AuthorizationRequest {
    /// The page's form targets, for `form-action`. Browsers also apply `form-action` to redirects after a
    /// form. A page whose form can lead to a redirect sets no targets, because the app may redirect to its
    /// own URL scheme, and a policy cannot allow all schemes.
    fileprivate var formTargets: String? { responseMode == .formPost ? "'self'" : nil }
}
