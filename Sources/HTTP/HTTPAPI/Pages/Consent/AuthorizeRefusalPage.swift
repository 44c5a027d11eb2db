import AuthorizationServer
import Encodings
import HTTPEngine
import NIOHTTP1

/// The error page of the authorization endpoint: the reason for which there is no consent page, and the
/// remedy.
struct AuthorizeRefusalPage {
    let refusal: AuthorizeTexts.Refusal
    let status: HTTPResponseStatus
    /// Stable code, for developers.
    let code: String
    let requestID: String
    let language: PageLanguage
    /// The faulty value of the request, if it can be named.
    var found: String?
    /// An address to copy.
    var address: String?
    /// A link that leads on.
    var link: Link?
    var cookie: String?

    struct Link {
        let text: Markup
        /// A URL that was checked, or our own.
        let url: String
    }

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: refusal.title, content: Array(content.utf8), status: status,
            code: code, cookie: cookie
        ).response
    }

    private var content: String {
        let code = Markup.filled(AuthorizeTexts.of(language).errorCode, ["code": .code(code)])
        return """
            <h1>\(refusal.title.htmlEscaped)</h1>
            <p>\(refusal.reason.htmlEscaped)</p>
            \(found.map { Markup.copied($0).html } ?? "")
            <p>\(refusal.advice.htmlEscaped)</p>
            \(address.map { Markup.copied($0).html } ?? "")
            \(link.map { "<a class=\"button main\" rel=\"noreferrer\" href=\"\($0.url.htmlEscaped)\">\($0.text.html)</a>" } ?? "")
            <p class="code">\(code.html) · \(Markup.code(requestID).html)</p>
            """
    }
}
