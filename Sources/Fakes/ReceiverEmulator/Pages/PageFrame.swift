import EmulatorServer
import HTTPTypes
import Hummingbird

/// The common parts of all pages: style and headers.
struct PageFrame {
    let title: String
    /// The name of the template.
    let template: String
    /// The values of the template, which are escaped.
    let values: Any
    var status = HTTPResponse.Status.ok
    /// Seconds after which the browser loads the page again.
    var reloadsAfter: Int?

    var response: Response {
        let document = PageDocument(
            title: title, heading: "Receivers of events", content: Self.library.render(template, values),
            style: PackageResources.style_css, formTargets: "'self'")
        var headers = HTTPFields()
        if let name = HTTPField.Name("Content-Security-Policy") { headers[name] = document.policy }
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        // The page has no script.
        if let reloadsAfter, let name = HTTPField.Name("Refresh") { headers[name] = "\(reloadsAfter)" }
        return .uncached(status, "text/html; charset=utf-8", Array(document.html.utf8), headers: headers)
    }

    private static let library = PageLibrary([
        "messages": PackageResources.messages_mustache, "receivers": PackageResources.receivers_mustache,
    ])
}

/// The page of a refused request of a browser.
struct ErrorPage {
    let error: EmulatorError

    var response: Response {
        PageFrame(
            title: "Not possible", template: "refusal",
            values: ["code": "\(error.code.name)", "detail": error.detail], status: error.code.status
        ).response
    }
}
