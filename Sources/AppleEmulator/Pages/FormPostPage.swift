/// Carries the answer to the redirect URI in a form that posts itself, or waits for a press where scripts are off (OAuth
/// 2.0 Form Post Response Mode).
struct FormPostPage {
    let delivered: AuthorizeAnswer

    var answer: EndpointAnswer {
        let fields = delivered.fields.map { field in
            "<input type=\"hidden\" name=\"\(field.name.htmlEscaped)\" value=\"\(field.value.htmlEscaped)\">"
        }
        return PageFrame(
            title: "Going back",
            content: """
                <h1>Going back to the app</h1>
                <p>If nothing happens, press the button.</p>
                <form id="answer" method="post" action="\(delivered.redirectURI.htmlEscaped)">
                \(fields.joined(separator: "\n"))
                <button class="main full">Continue</button>
                </form>
                """,
            // The receiver may send the browser on, to `intent:` or a scheme of its own as well, and a browser holds that
            // against the policy too. Apple's page lets it through.
            formTargets: nil, script: "document.getElementById('answer').submit()"
        ).answer
    }
}
