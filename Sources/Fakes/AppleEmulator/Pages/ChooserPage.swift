import EmulatorServer

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
