import EmulatorServer
import HTTPTypes

/// The common parts of all pages of the fake Apple: style and headers.
struct PageFrame {
    let title: String
    /// The name of the template.
    let template: String
    /// The values of the template, which are escaped.
    let values: Any
    var status = 200
    var isWide = false
    /// The allowed targets of forms, and of redirects after them, as in the policy; `nil` allows all.
    var formTargets: String? = "'self'"
    /// Runs when the page opens.
    var script: String?

    var response: EndpointResponse {
        let document = PageDocument(
            title: title, heading: "Fake Apple", content: Self.library.render(template, values),
            style: PackageResources.style_css, mainClass: isWide ? "wide" : "card", script: script,
            formTargets: formTargets)
        return EndpointResponse(
            status: status, contentType: "text/html;charset=UTF-8",
            headers: [
                EndpointResponse.noStore, .init(name: "Content-Security-Policy", value: document.policy),
                .init(name: "X-Content-Type-Options", value: "nosniff"),
            ],
            body: Array(document.html.utf8))
    }

    private static let library = PageLibrary([
        "accounts": PackageResources.accounts_mustache, "answer": PackageResources.answer_mustache,
        "chooser": PackageResources.chooser_mustache, "consent": PackageResources.consent_mustache,
        "iphone": PackageResources.iphone_mustache, "pager": PackageResources.pager_mustache,
        "person": PackageResources.person_mustache, "failed": PackageResources.failed_mustache,
        "search": PackageResources.search_mustache, "sent": PackageResources.sent_mustache,
        "site": PackageResources.site_mustache,
    ])
}

/// The page for another request that the fake refuses, such as one of an unknown path.
struct RefusalPage {
    let error: EmulatorError

    var response: EndpointResponse {
        PageFrame(
            title: "Not possible", template: "refusal",
            values: ["code": "\(error.code.name)", "detail": error.detail], status: error.code.status.code
        ).response
    }
}

/// The page for a request that Apple would refuse. As at Apple, nothing is sent to the app.
struct ErrorPage {
    let refusal: OAuthError

    var response: EndpointResponse {
        PageFrame(
            title: "Cannot sign in", template: "failed",
            values: ["code": refusal.code.rawValue, "cause": refusal.cause], status: refusal.code.status
        ).response
    }
}
