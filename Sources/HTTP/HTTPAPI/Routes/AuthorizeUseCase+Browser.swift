import AppleAccounts
import AuthorizationServer
import HTTPEngine
import OAuth
import SignIn
import WebOrigins

/// Translations between HTTP and the pages for users, which share the session of the authorization endpoint.
extension AuthorizeUseCase {
    func browser(of request: HTTPRequest) -> AuthorizeBrowser {
        AuthorizeBrowser(
            session: sessionCookie(of: request),
            webSignIn: CookieField.value(of: web.settings.cookieName, in: request.cookie),
            userAgent: request.browser?.userAgent)
    }

    /// Returns the form that a page of this service has posted.
    ///
    /// A form of another site's page, a malformed form and another media type are no form of ours. They give
    /// `nil`, and count as a form without a token.
    func ownForm(of request: HTTPRequest, mostFields: Int, mostBytes: Int) -> Form? {
        // The pages send no referrer.
        guard let browser = request.browser, browser.sendsForm,
            !browser.sender.isForeign(to: [issuer.text], pagesHideOrigin: true)
        else { return nil }
        return try? Form(parsing: request.body, mostFields: mostFields, mostBytes: mostBytes)
    }

    /// Returns the cookie as the browser sent it.
    func sessionCookie(of request: HTTPRequest) -> String? {
        CookieField.value(of: cookieName, in: request.cookie)
    }

    /// Returns the language of a page.
    func language(among requested: RequestedLanguages, _ request: HTTPRequest) -> PageLanguage {
        requested.language(among: languages, acceptLanguage: request.browser?.acceptLanguage)
    }

    /// Returns the redirect to Apple's page.
    func redirect(to apple: WebAuthorizationRequest) -> HTTPResponse {
        .redirect(to: apple.location, cookie: WebRoutes.cookie(apple.browser.text, web.settings))
    }

    /// Returns the value of `Set-Cookie` for a change of the session; `nil` without a change.
    func cookieField(for change: AuthorizeOutcome.SessionChange) -> String? {
        let secure = web.settings.isSecure ? "; Secure" : ""
        let attributes = "Path=/; HttpOnly; SameSite=Lax\(secure)"
        return switch change {
        case .keep: nil
        case .set(let value, let seconds): "\(cookieName)=\(value); Max-Age=\(seconds); \(attributes)"
        case .end: "\(cookieName)=; Max-Age=0; \(attributes)"
        }
    }

    /// Returns the ID of the configured client of a request, for the log. A query that cannot travel has
    /// none.
    func namedClient(of query: String) -> String? {
        guard query.utf8.count <= WebSignIn.longestQuery,
            let parameters = try? FormParameters(parsing: Array(query.utf8), as: .query),
            case .text(let id) = parameters["client_id"]
        else { return nil }
        return clients.first { $0.id.rawValue == id }?.id.rawValue
    }
}
