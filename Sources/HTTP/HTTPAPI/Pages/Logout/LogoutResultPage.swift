import AuthorizationServer
import Encodings
import HTTPEngine
import OAuth

/// The page at the end: the user is signed out, or stays signed in.
struct LogoutResultPage {
    let text: LogoutTexts.Result
    let language: PageLanguage
    /// The reason for which the browser does not return to the client.
    var obstacle: LogoutOutcome.Obstacle?
    /// True in development, where the page tells the developer the obstacle.
    var isExplained = false
    var cookie: String?

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: text.title, content: Array(content.utf8),
            code: obstacle?.rawValue, cookie: cookie
        ).response
    }

    private var content: String {
        """
        <h1>\(text.title.htmlEscaped)</h1>
        <p>\(text.advice.htmlEscaped)</p>
        \(isExplained ? obstacle.map { Self.notice($0) } ?? "" : "")
        """
    }

    /// For the developer of a client, in development only and so in English.
    private static func notice(_ obstacle: LogoutOutcome.Obstacle) -> String {
        let text =
            switch obstacle {
            case .clientMissing:
                "post_logout_redirect_uri needs client_id, or an id_token_hint of this service."
            case .clientUnknown:
                "client_id is unknown here, or id_token_hint was issued to another client."
            case .redirectURIMismatch:
                "post_logout_redirect_uri is not byte for byte one of post_logout_redirect_uris of this client."
            }
        return """
            <p class="notice" lang="en" dir="ltr">Development: the browser does not return to the client. \(text)</p>
            """
    }
}
