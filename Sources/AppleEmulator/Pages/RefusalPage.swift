/// What the person sees of a request that Apple would refuse. The app is told nothing, as at Apple.
struct RefusalPage {
    let refusal: OAuthRefusal

    var answer: EndpointAnswer {
        PageFrame(
            title: "Cannot sign in",
            content: """
                <h1>This sign-in cannot go on</h1>
                <p><code>\(refusal.code.rawValue.htmlEscaped)</code></p>
                <p>\(refusal.cause.htmlEscaped)</p>
                """,
            status: refusal.code.status
        ).answer
    }
}
