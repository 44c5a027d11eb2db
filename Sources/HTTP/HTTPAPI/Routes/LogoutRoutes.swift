import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes that sign a user out of a browser session.
final class LogoutRoutes: Sendable {
    /// Maximum form size in bytes. Browsers send a token and a decision.
    private static let longestForm = 1024

    private let useCase: LogoutUseCase
    private let metrics: ClientCaseCounters<LogoutStep>

    init(useCase: LogoutUseCase, registry: MetricsRegistry) {
        self.useCase = useCase
        metrics = ClientCaseCounters(registry, labels: ClientLabels(useCase.authorize.clients))
    }

    /// Handles `GET /oauth/logout`.
    func begin(_ request: HTTPRequest) -> Step<HTTPResponse> { begin(String(request.query ?? ""), request) }

    /// Handles `POST /oauth/logout`: accepts the page's form, or the parameters of a client's request.
    func post(_ request: HTTPRequest) -> Step<HTTPResponse> {
        guard request.browser?.sendsForm ?? false else { return .now(malformed(request)) }
        let query = String(request.query ?? "")
        let form = try? Form(parsing: request.body, mostFields: 4, mostBytes: Self.longestForm)
        // Only the page's form contains a decision or a token, so any other post is a client's request.
        if let form, form[ConsentPage.decisionField] != nil || form[ConsentPage.tokenField] != nil {
            // The form's URL already contains the client's parameters, so the service would ignore any
            // parameters in the form besides these two fields.
            guard form.hasOnly(ConsentPage.tokenField, ConsentPage.decisionField) else {
                return .now(malformed(request))
            }
            let own = useCase.authorize.ownForm(of: request, mostFields: 2, mostBytes: Self.longestForm)
            let answer = LogoutForm(
                token: own?[ConsentPage.tokenField],
                decision: own?[ConsentPage.decisionField].flatMap { LogoutForm.Decision(rawValue: $0) })
            return useCase.answer(answer, query: query, from: browser(of: request)).map {
                self.response(to: $0, request)
            }
        }
        guard query.isEmpty else { return .now(malformed(request)) }
        return beginPosted(request)
    }

    /// Handles posted parameters in the same way as query parameters. With SameSite=Lax, the browser does not
    /// send the session cookie with a post from another site's page. It does send the cookie with a GET, so
    /// this method redirects.
    private func beginPosted(_ request: HTTPRequest) -> Step<HTTPResponse> {
        guard let query = request.body.isEmpty ? "" : AuthorizeRoutes.query(of: request.body)
        else { return .now(malformed(request)) }
        guard request.browser?.comesFromPage ?? false else { return begin(query, request) }
        // Rejects a long query, because some proxies reject longer URLs.
        guard query.utf8.count <= WebSignIn.longestQuery else { return .now(malformed(request)) }
        return .now(.redirect(to: query.isEmpty ? LogoutUseCase.path : "\(LogoutUseCase.path)?\(query)"))
    }

    private func begin(_ query: String, _ request: HTTPRequest) -> Step<HTTPResponse> {
        useCase.begin(query, from: browser(of: request)).map { self.response(to: $0, request) }
    }

    private func response(to outcome: LogoutOutcome, _ request: HTTPRequest) -> HTTPResponse {
        let client = useCase.authorize.namedClient(of: String(request.query ?? ""))
        metrics.count(LogoutStep(outcome), of: client)
        if let client { request.client?.isNamed(client) }
        let cookie = useCase.authorize.cookieField(for: outcome.session)
        let language = useCase.authorize.language(among: outcome.languages, request)
        let texts = LogoutTexts.of(language)
        switch outcome.action {
        case .redirect(let location): return .redirect(to: location, cookie: cookie)
        case .ask(let prompt): return LogoutPage(prompt: prompt, language: language).response
        case .signedOut(let obstacle):
            return LogoutResultPage(
                text: texts.signedOut, language: language, obstacle: obstacle,
                isExplained: useCase.authorize.explainsRefusals, cookie: cookie
            ).response
        case .stayed: return LogoutResultPage(text: texts.stayed, language: language).response
        case .refusal(let refusal):
            return AuthorizeRefusalPage(refusal, requestID: request.requestID, language: language).response
        }
    }

    private func malformed(_ request: HTTPRequest) -> HTTPResponse {
        AuthorizeRefusalPage(
            LogoutOutcome.Refusal.requestMalformed, requestID: request.requestID,
            language: useCase.authorize.language(
                among: RequestedLanguages(query: String(request.query ?? "")), request)
        ).response
    }

    private func browser(of request: HTTPRequest) -> AuthorizeBrowser {
        AuthorizeBrowser(session: useCase.authorize.sessionCookie(of: request))
    }
}

/// Outcomes of browser sign-out requests, used as metric labels.
enum LogoutStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_logouts_total", label: "outcome",
        help: "Requests to sign out in a browser by client and by how they went on.")

    /// The page asks the user whether to sign out.
    case asked
    /// The browser was redirected to the client.
    case returned
    /// The page confirms that the user is signed out.
    case signedOut = "signed_out"
    case stayed
    case refused

    init(_ outcome: LogoutOutcome) {
        self =
            switch outcome.action {
            case .ask: .asked
            case .redirect: .returned
            case .signedOut: .signedOut
            case .stayed: .stayed
            case .refusal: .refused
            }
    }
}
