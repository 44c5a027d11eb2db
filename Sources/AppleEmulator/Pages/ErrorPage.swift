import Encodings

/// The page for a request that Apple would refuse. As at Apple, nothing is sent to the app.
struct ErrorPage {
    let refusal: OAuthError

    var response: EndpointResponse {
        PageFrame(
            title: "Cannot sign in",
            content: """
                <h1>This sign-in has failed</h1>
                <p><code>\(refusal.code.rawValue.htmlEscaped)</code></p>
                <p>\(refusal.cause.htmlEscaped)</p>
                """,
            status: refusal.code.status
        ).response
    }
}
