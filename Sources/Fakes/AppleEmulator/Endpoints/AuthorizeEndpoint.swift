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
