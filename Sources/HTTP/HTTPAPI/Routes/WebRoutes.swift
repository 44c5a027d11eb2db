import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes of a web sign-in. Browsers call all routes except the last route.
///
/// A browser only gets a page for errors that cannot be sent to the app's own page. A sign-in link is written
/// by a developer, so an error in the link returns a problem document.
final class WebRoutes: Sendable {
    /// Maximum size of the caller's own state in bytes, after decoding.
    static let longestState = 512

    private let web: WebSignIn
    private let verifications: VerificationMetrics
    private let metrics: CaseCounters<WebStep>
    /// Completes sign-ins that the authorization endpoint has started.
    private let authorize: AuthorizeRoutes?
    /// Completes sign-ins that the connections page has started.
    private let connections: ConnectionsRoutes?
    private let languages: PageLanguages
    /// Completes sign-ins that the device page has started.
    private let devicePages: DevicePageRoutes?

    init(
        web: WebSignIn, verifications: VerificationMetrics, registry: MetricsRegistry,
        authorize: AuthorizeRoutes? = nil, connections: ConnectionsRoutes? = nil,
        devicePages: DevicePageRoutes? = nil, languages: PageLanguages = .builtIn
    ) {
        (self.connections, self.devicePages) = (connections, devicePages)
        self.languages = languages
        (self.web, self.verifications, self.authorize) = (web, verifications, authorize)
        metrics = CaseCounters(registry)
    }

    /// Handles `GET /v1/web/sign-in?client_id=&state=&scope=`.
    func begin(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try Query(request, of: .beginWebSignIn)
        var scope = WebScope.nameAndEmail
        if let text = query["scope"] {
            // URLSearchParams encodes a space as "+". Checks the length first, because a query can be as long
            // as a header.
            guard text.utf8.count <= WebScope.longest,
                let asked = WebScope(text.replacing("+", with: " "))
            else {
                throw Problem(.parameterMalformed, subject: .parameter("scope"))
            }
            scope = asked
        }
        let redirect = try web.begin(
            clientID: query["client_id"],
            callerState: try Self.callerState(query["state"], in: request.query),
            scope: scope, cookie: cookie(of: request))
        metrics.count(.started)
        return .now(
            .redirect(to: redirect.location, cookie: Self.cookie(redirect.browser.text, web.settings)))
    }

    /// Handles `POST /v1/web/callback`: receives Apple's form. The browser posts it from Apple's page, and
    /// therefore does not send our cookie.
    func callback(_ request: HTTPRequest) -> Step<HTTPResponse> {
        let webState: WebState
        let form: Form
        do {
            form = try Form(parsing: request.body)
        } catch {
            return refuse(error, request)
        }
        do {
            webState = try web.readState(form["state"])
        } catch {
            return refuse(error, query: web.authorizationQuery(state: form["state"]), request)
        }
        if let error = form["error"] {
            metrics.count(.denied)
            return .now(away(webState, .fromApple(error), code: "apple_error"))
        }
        guard let token = form["id_token"], let code = form["code"] else {
            metrics.count(.refused)
            return .now(
                away(webState, .invalidRequest(ProblemCode.formMalformed.rawValue), code: "form_malformed"))
        }
        let user = form["user"].flatMap { UserProfile(unsigned: $0) }
        return .later { [self] in
            try await handleCallback(webState, token: token, code: code, user: user, in: request.trace)
        }
    }

    private func handleCallback(
        _ webState: WebState, token: String, code: String, user: UserProfile?, in trace: RequestTrace?
    ) async throws -> HTTPResponse {
        do {
            let end = try await verifications.counting(.identityToken, in: trace) {
                try await web.handleCallback(
                    webState, identityToken: token, authorizationCode: code, user: user
                ) { Self.failure(Problem(describing: $0)) }
            }
            if !end.isRepeated { metrics.count(.signedIn) }
            return .redirect(to: end.url)
        } catch {
            let problem = Problem(describing: error)
            guard let failure = Self.failure(problem) else { throw error }
            metrics.count(.refused)
            return away(webState, failure, code: problem.code)
        }
    }

    /// Returns the failure for the app; `nil` for a bug in this service, which the log reports instead.
    private static func failure(_ problem: Problem) -> WebFailure? {
        problem.code == ProblemCode.internalError.rawValue ? nil : WebFailure(problem)
    }

    /// Handles `GET /v1/web/finish?ticket=`.
    func finish(_ request: HTTPRequest) -> Step<HTTPResponse> {
        var ticket: String?
        do {
            let query = try Query(request, of: .finishWebSignIn)
            ticket = query["ticket"]
            let arrival = try web.finish(ticket: ticket, cookie: cookie(of: request))
            // Keeps the cookie, because another tab of the browser may still need it. The cookie expires
            // after ten minutes.
            let response = try response(to: arrival, request)
            metrics.count(.finished)
            return .now(response)
        } catch {
            return refuse(error, query: web.authorizationQuery(ticket: ticket), request)
        }
    }

    /// - Parameter query: The query of the authorization request that started the sign-in. It determines the
    ///   page's language.
    private func refuse(
        _ error: any Error, query: String? = nil, _ request: HTTPRequest
    ) -> Step<HTTPResponse> {
        metrics.count(.refused)
        let requested = query.map { RequestedLanguages(query: $0) } ?? RequestedLanguages()
        return .now(
            RefusalPage.response(
                to: Problem(describing: error), requestID: request.requestID,
                language: requested.language(
                    among: languages, acceptLanguage: request.browser?.acceptLanguage)))
    }

    private func response(to arrival: WebArrival, _ request: HTTPRequest) throws -> HTTPResponse {
        switch arrival {
        case .appPage(let location): return .redirect(to: location)
        case .authorization(let query, let authentication):
            // The route is missing if the operator removed the last OAuth client while the user was at Apple.
            guard let authorize else { throw Problem(.notFound) }
            return authorize.arrive(authentication, query: query, request)
        case .refusedAuthorization(let query, let failure):
            guard let authorize else { throw Problem(.notFound) }
            return authorize.refuse(failure, query: query, request)
        case .connections(let query, let authentication):
            guard let connections else { throw Problem(.notFound) }
            return connections.arrive(authentication, query: query, request)
        case .refusedConnections(let query, let failure):
            guard let connections else { throw Problem(.notFound) }
            return connections.refuse(failure, query: query, request)
        case .device(let query, let authentication):
            guard let devicePages else { throw Problem(.notFound) }
            return devicePages.arrive(authentication, query: query, request)
        case .refusedDevice(let query, let failure):
            guard let devicePages else { throw Problem(.notFound) }
            return devicePages.refuse(failure, query: query, request)
        }
    }

    /// Handles `POST /v1/web/results`.
    func redeem(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let code = try WebCode(parsing: request.body).code
        return .later { [web, metrics] in
            let outcome = try await web.redeem(code: code, allowed: request.scope)
            metrics.count(.redeemed)
            return .signedIn(outcome)
        }
    }

    /// Redirects to the step that recognizes the browser. This step then redirects to the app's page.
    private func away(_ webState: WebState, _ failure: WebFailure, code: String) -> HTTPResponse {
        var response = HTTPResponse.redirect(to: web.refusalURL(failure, for: webState))
        response.code = code
        return response
    }

    /// Returns the caller's state, still encoded, because only the caller knows whether "+" means a plus sign
    /// or a space.
    private static func callerState(_ decoded: String?, in query: Substring?) throws(Problem) -> String? {
        guard let decoded, let query else { return nil }
        guard decoded.utf8.count <= longestState, let encoded = value(of: "state", in: query),
            PercentEncoding.isQueryText(encoded)
        else { throw Problem(.parameterMalformed, subject: .parameter("state")) }
        return String(encoded)
    }

    /// Returns a parameter's encoded value from the query. Compares bytes.
    private static func value(of name: String, in query: Substring) -> Substring? {
        var rest: Substring? = query
        while let text = rest {
            let pair: Substring
            (pair, rest) = text.cut(at: UInt8(ascii: "&"))
            let (spelling, value) = pair.cut(at: UInt8(ascii: "="))
            if spelling.isByteEqual(to: name) { return value }
        }
        return nil
    }

    private func cookie(of request: HTTPRequest) -> String? {
        CookieField.value(of: web.settings.cookieName, in: request.cookie)
    }

    static func cookie(_ value: String, _ settings: WebSignIn.Settings) -> String {
        let attributes = "Path=/; Max-Age=600; HttpOnly; SameSite=Lax"
        let secure = settings.isSecure ? "; Secure" : ""
        return "\(settings.cookieName)=\(value); \(attributes)\(secure)"
    }
}

/// Steps of a web sign-in, used as metric labels.
enum WebStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_web_sign_ins_total", label: "step",
        help: "Web sign-ins by the step that they reached.")

    case started
    case signedIn = "signed_in"
    /// Apple returned an error, usually because the user cancelled.
    case denied
    case refused
    /// The service recognized the browser and redirected it to the app's page.
    case finished
    case redeemed
}
