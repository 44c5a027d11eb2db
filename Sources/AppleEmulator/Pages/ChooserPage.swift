/// The first step of `/auth/authorize`: which of the emulated people signs in, or a new one.
struct ChooserPage {
    let page: String
    let request: AuthorizeRequest
    let people: UserPage

    var answer: EndpointAnswer {
        let controls = UserPageControls(
            page: people, method: "post", action: "/auth/authorize", hidden: [("page", page)])
        let choices = people.users.map { user in
            "<button class=\"person\" name=\"choose\" value=\"\(user.subject.htmlEscaped)\">"
                + PersonLine.html(user) + "</button>"
        }
        return PageFrame(
            title: "Sign in",
            content: """
                <h1>Who signs in?</h1>
                <p>To <b>\(request.clientID.htmlEscaped)</b>, with an account that exists here only.</p>
                \(controls.search)
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                \(choices.joined(separator: "\n"))
                </form>
                \(controls.pager)
                <details>
                <summary>Make a new account</summary>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                <div class="pair">
                <div><label for="first">First name</label>\
                <input id="first" type="text" name="first_name" value="Ada" maxlength="100"></div>
                <div><label for="last">Last name</label>\
                <input id="last" type="text" name="last_name" value="Lovelace" maxlength="100"></div>
                </div>
                <label for="email">E-mail address</label>
                <input id="email" type="email" name="email" placeholder="made from the name" maxlength="300">
                <button class="main full" name="create" value="1">Make it and go on</button>
                </form>
                </details>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                <button class="plain full" name="cancel" value="1">Cancel</button>
                </form>
                """,
            formTargets: request.formTargets
        ).answer
    }
}

extension AuthorizeRequest {
    /// A browser also holds redirects that follow a form against the policy. A page whose form may be answered with one
    /// names no targets, because the app may send the browser on to its own scheme, and no policy can allow every scheme.
    var formTargets: String? { responseMode == .formPost ? "'self'" : nil }
}
