/// The first step of `/auth/authorize`: which of the emulated people signs in, or a new one.
struct ChooserPage {
    let page: String
    let request: AuthorizeRequest
    let users: [EmulatedUser]

    var answer: EndpointAnswer {
        let people = users.map { user in
            "<button class=\"person\" name=\"choose\" value=\"\(user.subject.htmlEscaped)\">"
                + PersonLine.html(user) + "</button>"
        }
        return PageFrame(
            title: "Sign in",
            content: """
                <h1>Who signs in?</h1>
                <p>To <b>\(request.clientID.htmlEscaped)</b>, with an account that exists here only.</p>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                \(people.joined(separator: "\n"))
                </form>
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
                <input id="email" type="email" name="email" value="ada@example.com" maxlength="300">
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
    /// A browser also holds redirects that follow a form against the policy, so a page whose form may be answered with one
    /// cannot name itself alone.
    var formTargets: String { responseMode == .formPost ? "'self'" : "'self' https: http:" }
}
