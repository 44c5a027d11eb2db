import EmulatorServer
import Encodings
import Hummingbird

/// The user's iPhone app after it has received the universal link: the app checks the link and asks for
/// consent.
struct AppPage {
    let link: AppFlipLink
    let app: AppFlipApp
    /// Token of the form (CSRF).
    let token: String

    var response: Response {
        GooglePage(
            app: .phone, title: "Your iPhone app",
            content: """
                <h1>Google asks to link your account</h1>
                <section><h2>The universal link</h2>
                \(HTML.table(link.fields.map { ($0.name, $0.value) }))
                </section>
                \(decision)
                """
        ).response
    }

    private var decision: String {
        switch app.check(link) {
        case .otherRedirectURI:
            return """
                <section><p>redirect_uri is not one of Google's. The app opens nothing.</p>
                <a class="button" href="/">Back to Google</a></section>
                """
        case .otherClient:
            let url = link.url(error: "invalid_request")
            return """
                <section><p>client_id is not the one that the app knows. The app opens redirect_uri with \
                <code>invalid_request</code>, and Google goes on in the browser.</p>
                <a class="button main" rel="noreferrer" href="\(url.htmlEscaped)">Open the Google app</a></section>
                """
        case .fine:
            return """
                <section><p>client_id and redirect_uri are the ones that the app knows. It asks:</p>
                <form method="post" action="/app/decision">
                \(HiddenFields.html([("token", token)] + link.fields))
                \(HTML.text("Sign in with the fake Apple as (user ID)", "sub", hint: "the usual user"))
                \(HTML.text("or an account ID, if the user is signed in already", "account_id", hint: "acc_…"))
                <div class="row"><button class="main" name="decision" value="granted">Agree and link</button>
                <button name="decision" value="denied">Refuse</button>
                <button name="decision" value="cancelled">Cancel</button></div>
                </form></section>
                """
        }
    }
}

/// The response to the app's backend, and the URL that the app opens.
struct AppResponsePage {
    let redirectTo: String
    let backendResponse: ServerClient.Response

    var response: Response {
        let words =
            backendResponse.status.map { "The backend's response has status \($0)." }
            ?? "The backend could not be reached, so the app makes the cancelled URL itself."
        return GooglePage(
            app: .phone, title: "Your iPhone app",
            content: """
                <h1>Back to Google</h1>
                <section><p>\(words.htmlEscaped)</p>
                <pre>\(ShownText.body(backendResponse.body).htmlEscaped)</pre>
                <p>The app opens this URL as it is:</p>
                <pre>\(ShownText.url(redirectTo).htmlEscaped)</pre>
                <a class="button main" rel="noreferrer" href="\(redirectTo.htmlEscaped)">Open the Google app</a>
                </section>
                """
        ).response
    }
}
