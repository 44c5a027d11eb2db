import EmulatorServer
import HTTPTypes
import Hummingbird

/// `GET /auth/authorize`, and the forms of its page. The page needs no scripts: each step is a separate form.
struct AuthorizeEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .authorize)
        router.get("auth/authorize") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                respond { () throws(OAuthError) in
                    let (page, opened) = try state.open(FormFields((request.uri.query ?? "").utf8))
                    return ChooserPage(page: page, request: opened, users: UserPage(of: users)).response
                }
            }
        }
        router.post("auth/authorize") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                let form: FormFields
                do throws(OAuthError) {
                    form = try await FormFields(bodyOf: request)
                } catch {
                    return respond { () throws(OAuthError) in throw error }
                }
                return respond { () throws(OAuthError) in try step(form) }
            }
        }
    }

    private func respond(_ work: () throws(OAuthError) -> EndpointResponse) -> EndpointResponse {
        do throws(OAuthError) {
            return try work()
        } catch {
            state.count(error, on: .authorize)
            return ErrorPage(refusal: error).response
        }
    }

    private func step(_ form: FormFields) throws(OAuthError) -> EndpointResponse {
        let page = try form.require("page")
        if form["cancel"] != nil { return deliver(try state.cancel(page)) }
        let request = try state.openPage(page)
        if let subject = form["allow"] {
            var sharing = Sharing(hidesEmail: form["email_choice"].map { $0 == "hide" })
            if form.has("first_name") || form.has("last_name") {
                sharing.name = Sharing.Name(
                    first: try name(form, "first_name"), last: try name(form, "last_name"))
            }
            return deliver(try state.authorize(page, by: subject, sharing: sharing))
        }
        if let subject = form["choose"] { return try consent(page, request, subject) }
        if form["create"] != nil {
            var recipe = UserRecipe()
            recipe.firstName = try name(form, "first_name")
            recipe.lastName = try name(form, "last_name")
            // Every Apple Account has an address.
            recipe.email = try name(form, "email").map { RecipeAddress.given($0) } ?? .derived
            guard let user = try? state.makeUser(recipe) else {
                throw OAuthError(.invalidRequest, "there are too many accounts; reset the emulator")
            }
            return try consent(page, request, user.subject)
        }
        return ChooserPage(page: page, request: request, users: try UserPage(of: users, form)).response
    }

    /// The users that can sign in.
    private var users: [EmulatedUser] { state.users.filter { !$0.isDeleted } }

    private func consent(
        _ page: String, _ request: AuthorizationRequest, _ subject: String
    ) throws(OAuthError) -> EndpointResponse {
        guard let user = try? state.user(subject), !user.isDeleted else {
            throw OAuthError(.invalidRequest, "there is no such account")
        }
        return ConsentPage(
            page: page, request: request, user: user,
            isFirst: state.isFirstAuthorization(of: user, clientID: request.clientID)
        ).response
    }

    private func deliver(_ response: AuthorizationResponse) -> EndpointResponse {
        guard response.mode != .formPost else { return FormPostPage(delivered: response).response }
        return EndpointResponse(
            status: 303,
            headers: [.init(name: "Location", value: response.location), EndpointResponse.noStore])
    }

    private func name(_ form: FormFields, _ field: String) throws(OAuthError) -> String? {
        guard let text = form[field] else { return nil }
        guard text.utf8.count <= 320 else { throw OAuthError(.invalidRequest, "\(field) is too long") }
        return text
    }
}

/// The first step of `/auth/authorize`: the choice of a user, or a new user.
struct ChooserPage {
    private struct Choice {
        let subject: String
        let person: UserLine
    }

    private let page: String
    private let clientID: String
    private let controls: UserPageControls
    private let users: [Choice]
    private let formTargets: String?

    init(page: String, request: AuthorizationRequest, users: UserPage) {
        (self.page, clientID, formTargets) = (page, request.clientID, request.formTargets)
        controls = UserPageControls(
            page: users, method: "post", action: "/auth/authorize", hidden: [PageField("page", page)])
        self.users = users.users.map { Choice(subject: $0.subject, person: UserLine($0)) }
    }

    var response: EndpointResponse {
        PageFrame(title: "Sign in", template: "chooser", values: self, formTargets: formTargets).response
    }
}

extension AuthorizationRequest {
    /// Targets of the page's forms, for `form-action`. Browsers apply `form-action` also to redirects after a
    /// form. A page whose form can lead to a redirect sets no targets, because the app may redirect to its
    /// own URL scheme, and a policy cannot allow all schemes.
    var formTargets: String? { responseMode == .formPost ? "'self'" : nil }
}

/// The second step of `/auth/authorize`: the values that the app may see, and consent.
struct ConsentPage {
    private let page: String
    private let clientID: String
    private let explanation: String
    private let person: UserLine
    private let subject: String
    private let asksName: Bool
    private let asksEmail: Bool
    private let firstName: String
    private let lastName: String
    private let email: String
    private let hidesEmail: Bool
    private let formTargets: String?

    /// - Parameter isFirst: True at the first authorization, the only time that Apple asks what to share.
    init(page: String, request: AuthorizationRequest, user: EmulatedUser, isFirst: Bool) {
        (self.page, clientID, formTargets) = (page, request.clientID, request.formTargets)
        explanation = Self.explanation(of: request, isFirst: isFirst)
        (person, subject) = (UserLine(user), user.subject)
        (asksName, asksEmail) = (isFirst && request.wantsName, isFirst && request.wantsEmail)
        (firstName, lastName) = (user.firstName ?? "", user.lastName ?? "")
        (email, hidesEmail) = (user.email ?? "none", user.hidesEmail)
    }

    var response: EndpointResponse {
        PageFrame(title: "Sign in", template: "consent", values: self, formTargets: formTargets).response
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
}

/// Sends the response to the redirect URI with a form that a script submits, or the user when scripts are
/// disabled (OAuth 2.0 Form Post Response Mode).
struct FormPostPage {
    private let action: String
    private let hidden: [PageField]

    init(delivered: AuthorizationResponse) {
        action = delivered.redirectURI
        hidden = delivered.fields.map { PageField($0.name, $0.value) }
    }

    var response: EndpointResponse {
        PageFrame(
            title: "Continue", template: "answer", values: self,
            // The receiver may redirect the browser, also to `intent:` or to its own scheme, and browsers
            // apply the policy to redirects too. Apple's page allows these redirects.
            formTargets: nil, script: "document.getElementById('answer').submit()"
        ).response
    }
}
