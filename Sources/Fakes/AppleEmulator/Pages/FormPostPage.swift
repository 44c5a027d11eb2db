import EmulatorServer

/// Sends the response to the redirect URI with a form that a script submits, or the user when scripts are
/// disabled (OAuth 2.0 Form Post Response Mode).
struct FormPostPage {
    private let action: String
    private let hidden: [PageField]

    init(delivered: AuthorizationResponse) {
        action = delivered.redirectURI
        hidden = delivered.fields.map { PageField($0.name, $0.value) }
    }

    var response: EndpointResponse {
        PageFrame(
            title: "Continue", template: "answer", values: self,
            // The receiver may redirect the browser, also to `intent:` or to its own scheme, and browsers
            // apply the policy to redirects too. Apple's page allows these redirects.
            formTargets: nil, script: "document.getElementById('answer').submit()"
        ).response
    }
}
