import EmulatorServer
import Encodings

/// Sends the response to the redirect URI with a form that a script submits, or the user when scripts are
/// disabled (OAuth 2.0 Form Post Response Mode).
struct FormPostPage {
    let delivered: AuthorizationResponse

    var response: EndpointResponse {
        PageFrame(
            title: "Continue",
            content: """
                <h1>Return to the app</h1>
                <p>If nothing happens, press the button.</p>
                <form id="answer" method="post" action="\(delivered.redirectURI.htmlEscaped)">
                \(HiddenFields.html(delivered.fields.map { ($0.name, $0.value) }))
                <button class="main full">Continue</button>
                </form>
                """,
            // The receiver may redirect the browser, also to `intent:` or to its own scheme, and browsers
            // apply the policy to redirects too. Apple's page allows these redirects.
            formTargets: nil, script: "document.getElementById('answer').submit()"
        ).response
    }
}
