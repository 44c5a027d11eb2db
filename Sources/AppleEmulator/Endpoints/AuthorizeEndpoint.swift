import HTTPTypes
import Hummingbird

/// `GET /auth/authorize`, and the forms of its page. It works without scripts: each step is a separate form.
struct AuthorizeEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let shell = EndpointShell(state: state, endpoint: .authorize)
        router.get("auth/authorize") { request, context in
            try await shell.respond(on: context.channel) { _ in
                answer { () throws(OAuthRefusal) in
                    let (page, opened) = try state.open(FormFields((request.uri.query ?? "").utf8))
                    return ChooserPage(page: page, request: opened, people: UserPage(of: people)).answer
                }
            }
        }
        router.post("auth/authorize") { request, context in
            try await shell.respond(on: context.channel) { _ in
                let form: FormFields
                do throws(OAuthRefusal) {
                    form = try await FormFields(bodyOf: request)
                } catch {
                    return answer { () throws(OAuthRefusal) in throw error }
                }
                return answer { () throws(OAuthRefusal) in try step(form) }
            }
        }
    }

    private func answer(_ work: () throws(OAuthRefusal) -> EndpointAnswer) -> EndpointAnswer {
        do throws(OAuthRefusal) {
            return try work()
        } catch {
            state.count(error, on: .authorize)
            return RefusalPage(refusal: error).answer
        }
    }

    private func step(_ form: FormFields) throws(OAuthRefusal) -> EndpointAnswer {
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
                throw OAuthRefusal(.invalidRequest, "there are too many accounts; reset the emulator")
            }
            return try consent(page, request, user.subject)
        }
        return ChooserPage(page: page, request: request, people: try UserPage(of: people, form)).answer
    }

    /// The users that can sign in.
    private var people: [EmulatedUser] { state.users.filter { !$0.isDeleted } }

    private func consent(
        _ page: String, _ request: AuthorizeRequest, _ subject: String
    ) throws(OAuthRefusal) -> EndpointAnswer {
        guard let user = try? state.user(subject), !user.isDeleted else {
            throw OAuthRefusal(.invalidRequest, "there is no such account")
        }
        return ConsentPage(
            page: page, request: request, user: user,
            isFirst: state.isFirstAuthorization(of: user, clientID: request.clientID)
        ).answer
    }

    private func deliver(_ answer: AuthorizeAnswer) -> EndpointAnswer {
        guard answer.mode != .formPost else { return FormPostPage(delivered: answer).answer }
        return EndpointAnswer(
            status: 303,
            headers: [.init(name: "Location", value: answer.location), EndpointAnswer.noStore])
    }

    private func name(_ form: FormFields, _ field: String) throws(OAuthRefusal) -> String? {
        guard let text = form[field] else { return nil }
        guard text.utf8.count <= 320 else { throw OAuthRefusal(.invalidRequest, "\(field) is too long") }
        return text
    }
}
