import AppleAccounts
import AuthorizationServer
import Commits
import Encodings
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes of the authorization endpoint, called by browsers.
///
/// Every redirect uses 303, so that the browser never repeats a post, including its form data, at another
/// server (RFC 9700 §4.12).
final class AuthorizeRoutes: Sendable {
    /// Maximum number of form fields: one field for each optional scope, the token and the decision.
    private static let mostFields = ScopeSet.most + 2
    /// Maximum form size in bytes. Browsers send only the fields above.
    private static let mostFormBytes = 8192

    private let useCase: AuthorizeUseCase
    private let metrics: AuthorizeMetrics
    private let pages: ConsentPages

    init(useCase: AuthorizeUseCase, registry: MetricsRegistry) {
        self.useCase = useCase
        metrics = AuthorizeMetrics(registry, labels: ClientLabels(useCase.clients))
        pages = ConsentPages(
            useCase.clients, languages: useCase.languages, appName: { useCase.appName(of: $0) })
    }

    /// Handles `GET /oauth/authorize`.
    func begin(_ request: HTTPRequest) -> Step<HTTPResponse> {
        begin(String(request.query ?? ""), from: useCase.browser(of: request), request)
    }

    private func begin(
        _ query: String, from browser: AuthorizeBrowser, _ request: HTTPRequest
    ) -> Step<HTTPResponse> {
        useCase.begin(query, from: browser).map { self.response(to: $0, query: query, request) }
    }

    /// Handles `POST /oauth/authorize`: accepts the consent form, or the parameters of an authorization
    /// request (OpenID Connect Core §3.1.2.1).
    func response(_ request: HTTPRequest) -> Step<HTTPResponse> {
        guard request.browser?.sendsForm ?? false else { return .now(malformed(request)) }
        let query = String(request.query ?? "")
        guard !query.isEmpty else { return beginPosted(request) }
        let form = useCase.ownForm(
            of: request, mostFields: Self.mostFields, mostBytes: Self.mostFormBytes)
        let consent = ConsentForm(
            token: form?[ConsentPage.tokenField],
            decision: form?[ConsentPage.decisionField].flatMap { ConsentForm.Decision(rawValue: $0) },
            tickedScopes: Set(form?.names(after: ConsentPage.scopePrefix) ?? []))
        return useCase.response(query, with: consent, from: useCase.browser(of: request)).map {
            self.response(to: $0, query: query, request)
        }
    }

    /// Completes a sign-in that this endpoint has started.
    func arrive(_ authentication: WebAuthentication, query: String, _ request: HTTPRequest) -> HTTPResponse {
        let cookie = useCase.sessionCookie(of: request)
        return response(
            to: useCase.arrive(authentication, query: query, sessionCookie: cookie), query: query, request)
    }

    /// Handles a failed sign-in that this endpoint has started.
    func refuse(_ failure: WebFailure, query: String, _ request: HTTPRequest) -> HTTPResponse {
        response(
            to: useCase.refuse(failure, query: query, from: useCase.browser(of: request)), query: query,
            request)
    }

    /// Handles posted parameters in the same way as query parameters.
    private func beginPosted(_ request: HTTPRequest) -> Step<HTTPResponse> {
        guard let query = Self.query(of: request.body) else { return .now(malformed(request)) }
        var browser = useCase.browser(of: request)
        guard WebSignIn.canCarry(query) else {
            // The consent form's URL would contain this query, which is too long for many proxies. So the
            // request continues without a session, and the client receives invalid_request.
            browser.session = nil
            return begin(query, from: browser, request)
        }
        // With SameSite=Lax, the browser does not send the session cookie with a post from another site's
        // page. It does send the cookie with a GET, so the redirect turns the post into a GET.
        if request.browser?.comesFromPage ?? false, useCase.isValid(query, from: browser) {
            return .now(.redirect(to: "\(AuthorizeUseCase.path)?\(query)"))
        }
        return begin(query, from: browser, request)
    }

    /// Returns the form as a query; `nil` for a form that is empty, too long, or not percent-encoded like a
    /// query.
    static func query(of form: [UInt8]) -> String? {
        // Checks the size limit before reading any bytes.
        guard !form.isEmpty, form.count <= FormParameters.mostBytes else { return nil }
        var query: [UInt8] = []
        query.reserveCapacity(form.count)
        for byte in form {
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: " ") {
                // A form can encode a space as "+", and some clients do not encode it at all. A client that
                // only decodes percent escapes would keep a plus sign in the redirect's `state`, so the query
                // contains `%20`.
                query += [UInt8(ascii: "%"), UInt8(ascii: "2"), UInt8(ascii: "0")]
            } else if WebSignIn.isWrittenInQuery(byte) {
                query.append(byte)
            } else {
                return nil
            }
        }
        return String(decoding: query, as: UTF8.self)
    }

    /// - Parameter query: The query of the authorization request.
    private func response(
        to outcome: AuthorizeOutcome, query: String, _ request: HTTPRequest
    ) -> HTTPResponse {
        let client = useCase.namedClient(of: query)
        metrics.count(outcome, of: client)
        if let client { request.client?.isNamed(client) }
        let cookie = useCase.cookieField(for: outcome.session)
        switch outcome.action {
        case .code(let location), .resume(let location): return .redirect(to: location, cookie: cookie)
        case .error(let code, let location):
            var response = HTTPResponse.redirect(to: location, cookie: cookie)
            response.code = code.rawValue
            return response
        case .signIn(let apple): return useCase.redirect(to: apple)
        case .ask(let prompt):
            let language = useCase.language(among: prompt.languages, request)
            return pages.page(prompt, language: language, cookie: cookie).response
        case .refusal(let refusal):
            let language = useCase.language(among: refusal.languages, request)
            return AuthorizeRefusalPage(
                refusal, requestID: request.requestID, language: language, cookie: cookie
            ).response
        case .disabled(let notice):
            let language = useCase.language(among: notice.languages, request)
            return AuthorizeRefusalPage(
                notice, requestID: request.requestID, language: language, cookie: cookie
            ).response
        case .page(let error):
            let language = useCase.language(among: error.languages, request)
            return AuthorizeRefusalPage(
                error, query: query, issuer: useCase.issuer, requestID: request.requestID, language: language
            ).response
        }
    }

    private func malformed(_ request: HTTPRequest) -> HTTPResponse {
        let language = useCase.language(
            among: RequestedLanguages(query: String(request.query ?? "")), request)
        return AuthorizeRefusalPage(
            refusal: AuthorizeTexts.of(language).refusals.requestMalformed, status: .badRequest,
            code: OAuthError.Code.invalidRequest.rawValue, requestID: request.requestID, language: language
        ).response
    }
}

/// Conversions between HTTP and the user pages, which all use the authorization endpoint's session.
extension AuthorizeUseCase {
    func browser(of request: HTTPRequest) -> AuthorizeBrowser {
        AuthorizeBrowser(
            session: sessionCookie(of: request),
            webSignIn: CookieField.value(of: web.settings.cookieName, in: request.cookie),
            userAgent: request.browser?.userAgent)
    }

    /// Returns a form posted by one of this service's pages.
    ///
    /// Returns `nil` for a form from another site's page, for a malformed form and for another media type.
    /// Callers treat all of them like a form without a token.
    func ownForm(of request: HTTPRequest, mostFields: Int, mostBytes: Int) -> Form? {
        // The pages send no `Referer`, so browsers hide the page's origin.
        guard let browser = request.browser, browser.sendsForm,
            !browser.sender.isForeign(to: [issuer.text], pagesHideOrigin: true)
        else { return nil }
        return try? Form(parsing: request.body, mostFields: mostFields, mostBytes: mostBytes)
    }

    /// Returns the session cookie as the browser sent it; `nil` if it sent none.
    func sessionCookie(of request: HTTPRequest) -> String? {
        CookieField.value(of: cookieName, in: request.cookie)
    }

    /// Returns the language for a page.
    func language(among requested: RequestedLanguages, _ request: HTTPRequest) -> PageLanguage {
        requested.language(among: languages, acceptLanguage: request.browser?.acceptLanguage)
    }

    /// Returns a redirect to Apple's page.
    func redirect(to apple: WebAuthorizationRequest) -> HTTPResponse {
        .redirect(to: apple.location, cookie: WebRoutes.cookie(apple.browser.text, web.settings))
    }

    /// Returns the `Set-Cookie` value for a session change; `nil` if the session does not change.
    func cookieField(for change: AuthorizeOutcome.SessionChange) -> String? {
        let secure = web.settings.isSecure ? "; Secure" : ""
        let attributes = "Path=/; HttpOnly; SameSite=Lax\(secure)"
        return switch change {
        case .keep: nil
        case .set(let value, let seconds): "\(cookieName)=\(value); Max-Age=\(seconds); \(attributes)"
        case .end: "\(cookieName)=; Max-Age=0; \(attributes)"
        }
    }

    /// Returns the ID of the configured client that the query names, for the log. Returns `nil` for a query
    /// that is too long to fit into the state.
    func namedClient(of query: String) -> String? {
        guard query.utf8.count <= WebSignIn.longestQuery,
            let parameters = try? FormParameters(parsing: Array(query.utf8), as: .query),
            case .text(let id) = parameters["client_id"]
        else { return nil }
        return clients.first { $0.id.rawValue == id }?.id.rawValue
    }
}

/// Counts outcomes of authorization endpoint requests, by the client that the request names.
struct AuthorizeMetrics: Sendable {
    enum Step: String, CaseIterable {
        /// The browser was redirected to Apple's page.
        case signIn = "sign_in"
        /// The browser returned from Apple's page and has a session.
        case signedIn = "signed_in"
        /// The user sees the consent page.
        case asked
        case code
        /// The user sees a page that explains why there is no redirect.
        case page
        /// The user sees a page about the disabled account.
        case accountDisabled = "account_disabled"
        /// The service refused a posted form.
        case formRefused = "form_refused"
    }

    /// The errors that clients can receive at their redirect URIs.
    private static let errors: [OAuthError.Code] = [
        .invalidRequest, .accessDenied, .unsupportedResponseType, .invalidScope, .invalidTarget,
        .interactionRequired, .loginRequired, .consentRequired, .requestNotSupported, .requestURINotSupported,
        .temporarilyUnavailable, .serverError,
    ]

    private let labels: ClientLabels
    /// Counters for each client ID and each outcome.
    private let cells: [String: [String: CounterCell]]

    init(_ registry: MetricsRegistry, labels: ClientLabels) {
        self.labels = labels
        let outcomes = Step.allCases.map(\.rawValue) + Self.errors.map(\.rawValue)
        cells = Dictionary(
            uniqueKeysWithValues: labels.all.map { client in
                let cells = outcomes.map { outcome in
                    let cell = registry.counter(
                        "siwa_oauth_authorizations_total", [("client", client), ("outcome", outcome)],
                        help: "Requests to the authorization endpoint by client and by how they went on.")
                    return (outcome, cell)
                }
                return (client, Dictionary(uniqueKeysWithValues: cells))
            })
    }

    /// - Parameter client: The ID of a configured client; `nil` for a request without a configured client.
    func count(_ outcome: AuthorizeOutcome, of client: String?) {
        let word =
            switch outcome.action {
            case .page: Step.page.rawValue
            case .refusal: Step.formRefused.rawValue
            case .disabled: Step.accountDisabled.rawValue
            case .ask: Step.asked.rawValue
            case .code: Step.code.rawValue
            case .error(let code, _): code.rawValue
            case .resume: Step.signedIn.rawValue
            case .signIn: Step.signIn.rawValue
            }
        cells[labels.label(of: client)]?[word]?.increment(by: 1)
    }
}
