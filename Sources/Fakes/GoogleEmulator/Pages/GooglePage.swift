import EmulatorServer
import HTTPTypes
import Hummingbird

/// The common parts of all pages: style, headers, and the app that the page belongs to.
struct GooglePage {
    enum App: String {
        case google = "Fake Google"
        case phone = "Your iPhone app"
    }

    let app: App
    let title: String
    /// The name of the template.
    let template: String
    /// The values of the template, which are escaped.
    let values: Any
    var status = HTTPResponse.Status.ok
    /// True for a page with two columns.
    var isWide = false

    var response: Response {
        let document = PageDocument(
            title: title, heading: app.rawValue, content: Self.library.render(template, values),
            style: PackageResources.style_css,
            bodyClass: app == .phone ? "phone" : isWide ? "home wide" : "home", formTargets: "'self'")
        var headers = HTTPFields()
        if let name = HTTPField.Name("Content-Security-Policy") { headers[name] = document.policy }
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        return .uncached(status, "text/html; charset=utf-8", Array(document.html.utf8), headers: headers)
    }

    private static let library = PageLibrary([
        "app": PackageResources.app_mustache, "events": PackageResources.events_mustache,
        "fields": PackageResources.fields_mustache, "home": PackageResources.home_mustache,
        "links": PackageResources.links_mustache, "open": PackageResources.open_mustache,
        "return": PackageResources.return_mustache,
    ])
}

/// A refusal, for a browser.
struct ErrorPage {
    let error: EmulatorError

    var response: Response {
        GooglePage(
            app: .google, title: "Not possible", template: "refusal",
            values: ["code": "\(error.code.name)", "detail": error.detail], status: error.code.status
        ).response
    }
}
