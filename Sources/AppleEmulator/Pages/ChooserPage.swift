import Encodings

/// The first step of `/auth/authorize`: the choice of a user, or a new user.
struct ChooserPage {
    let page: String
    let request: AuthorizationRequest
    let users: UserPage

    var response: EndpointResponse {
        let controls = UserPageControls(
            page: users, method: "post", action: "/auth/authorize", hidden: [("page", page)])
        let choices = users.users.map { user in
            "<button class=\"user\" name=\"choose\" value=\"\(user.subject.htmlEscaped)\">"
                + UserLine.html(user) + "</button>"
        }
        return PageFrame(
            title: "Sign in",
            content: """
                <h1>Choose an account</h1>
                <p>Sign in to <b>\(request.clientID.htmlEscaped)</b>, with an emulated account.</p>
                \(controls.search)
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                \(choices.joined(separator: "\n"))
                </form>
                \(controls.pager)
                <details>
                <summary>Create an account</summary>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                <div class="pair">
                <div><label for="first">First name</label>\
                <input id="first" type="text" name="first_name" value="Ada" maxlength="100"></div>
                <div><label for="last">Last name</label>\
                <input id="last" type="text" name="last_name" value="Lovelace" maxlength="100"></div>
                </div>
                <label for="email">E-mail address</label>
                <input id="email" type="email" name="email" placeholder="generated from the name" maxlength="300">
                <button class="main full" name="create" value="1">Create and continue</button>
                </form>
                </details>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                <button class="plain full" name="cancel" value="1">Cancel</button>
                </form>
                """,
            formTargets: request.formTargets
        ).response
    }
}

extension AuthorizationRequest {
    /// Targets of the page's forms, for `form-action`. Browsers apply `form-action` also to redirects after a
    /// form. A page whose form can lead to a redirect sets no targets, because the app may redirect to its
    /// own URL scheme, and a policy cannot allow all schemes.
    var formTargets: String? { responseMode == .formPost ? "'self'" : nil }
}
