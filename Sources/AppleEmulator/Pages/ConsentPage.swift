import Encodings

/// The second step of `/auth/authorize`: the values that the app may see, and consent.
struct ConsentPage {
    let page: String
    let request: AuthorizationRequest
    let user: EmulatedUser
    /// True at the first authorization, the only time that Apple asks what to share.
    let isFirst: Bool

    var response: EndpointResponse {
        PageFrame(
            title: "Sign in",
            content: """
                <h1>Sign in to \(request.clientID.htmlEscaped)?</h1>
                <p>\(explanation)</p>
                <div class="person">\(UserLine.html(user))</div>
                <form method="post" action="/auth/authorize">
                <input type="hidden" name="page" value="\(page.htmlEscaped)">
                \(isFirst && request.wantsName ? nameFields : "")
                \(isFirst && request.wantsEmail ? emailFields : "")
                <button class="main full" name="allow" value="\(user.subject.htmlEscaped)">Continue</button>
                <button class="plain full" name="cancel" value="1" formnovalidate>Cancel</button>
                </form>
                """,
            formTargets: request.formTargets
        ).response
    }

    private var explanation: String {
        guard isFirst else { return "You have used this app before. It gets no new data." }
        switch (request.wantsName, request.wantsEmail) {
        case (true, true): return "The app requests your name and your e-mail address, only this first time."
        case (true, false): return "The app requests your name, only this first time."
        case (false, true): return "The app requests your e-mail address."
        case (false, false): return "The app requests no personal data."
        }
    }

    private var nameFields: String {
        """
        <div class="pair">
        <div><label for="first">First name</label>\
        <input id="first" type="text" name="first_name" maxlength="100" value="\((user.firstName ?? "").htmlEscaped)"></div>
        <div><label for="last">Last name</label>\
        <input id="last" type="text" name="last_name" maxlength="100" value="\((user.lastName ?? "").htmlEscaped)"></div>
        </div>
        """
    }

    private var emailFields: String {
        """
        <fieldset><legend>E-mail</legend>
        <label class="choice"><input type="radio" name="email_choice" value="share"\(user.hidesEmail ? "" : " checked")>\
        <span>Share my address<small>\((user.email ?? "none").htmlEscaped)</small></span></label>
        <label class="choice"><input type="radio" name="email_choice" value="hide"\(user.hidesEmail ? " checked" : "")>\
        <span>Hide my address<small>The app gets an address that forwards to you.</small></span></label>
        </fieldset>
        """
    }
}
