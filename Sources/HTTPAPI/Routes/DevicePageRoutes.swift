import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes of the page for the users of devices, which browsers call.
final class DevicePageRoutes: Sendable {
    /// Number of fields of a form: one for each scope that can be refused, the token and the decision.
    private static let mostFields = ScopeSet.most + 2
    /// Bound in bytes.
    private static let longestForm = 8192

    private let useCase: DevicePageUseCase
    private let metrics: DevicePageMetrics

    init(useCase: DevicePageUseCase, registry: MetricsRegistry) {
        self.useCase = useCase
        metrics = DevicePageMetrics(registry)
    }

    /// `GET /oauth/device`
    func show(_ request: HTTPRequest) -> RouteResult {
        let step = useCase.begin(
            String(request.query ?? ""), from: browser(of: request), at: request.browser?.address)
        return RouteResult(step) { .response(self.response(to: $0, request)) }
    }

    /// `POST /oauth/device`
    func response(_ request: HTTPRequest) -> RouteResult {
        // A malformed form was not made here. It then counts as a form without a token.
        var form: Form?
        if request.browser?.sendsForm ?? false {
            form = try? Form(
                parsing: request.body, mostFields: Self.mostFields, mostBytes: Self.longestForm)
        }
        let consent = ConsentForm(
            token: form?[ConsentPage.tokenField],
            decision: form?[ConsentPage.decisionField].flatMap { ConsentForm.Decision(rawValue: $0) },
            tickedScopes: Set(form?.names(after: ConsentPage.scopePrefix) ?? []))
        let step = useCase.response(
            String(request.query ?? ""), with: consent, from: browser(of: request),
            at: request.browser?.address)
        return RouteResult(step) { .response(self.response(to: $0, request)) }
    }

    /// Handles the end of a sign-in that this page has begun.
    func arrive(_ authentication: WebAuthentication, query: String, _ request: HTTPRequest) -> HTTPResponse {
        let cookie = CookieField.value(of: useCase.authorize.cookieName, in: request.cookie)
        return response(to: useCase.arrive(authentication, query: query, sessionCookie: cookie), request)
    }

    /// Handles the failure of a sign-in that this page has begun.
    func refuse(_ failure: WebFailure, query: String, _ request: HTTPRequest) -> HTTPResponse {
        response(to: useCase.refuse(failure, query: query), request)
    }

    private func response(to outcome: DevicePageOutcome, _ request: HTTPRequest) -> HTTPResponse {
        metrics.count(outcome)
        if let client = outcome.client { request.client?.isNamed(client.id.rawValue) }
        let authorize = useCase.authorize
        let cookie = authorize.cookieField(for: outcome.session)
        let language = RequestedLanguages(tags: outcome.query.language.map { [$0.rawValue] } ?? [])
            .language(among: authorize.languages, acceptLanguage: request.browser?.acceptLanguage)
        switch outcome.action {
        case .enter(let fault):
            return DeviceCodePage(query: outcome.query, fault: fault, language: language).response
        case .ask(let prompt):
            return DeviceConsentPage(
                prompt: prompt, query: outcome.query, language: language, cookie: cookie
            ).response
        case .goOn(let code, let address):
            return DeviceContinuePage(code: code, address: address, language: language).response
        case .signIn(let redirect):
            return .redirect(
                to: redirect.location, cookie: WebRoutes.cookie(redirect.browser.text, authorize.web.settings)
            )
        case .resume(let location): return .redirect(to: location, cookie: cookie)
        case .agreed(let client):
            return DeviceEndPage(client: client, isAgreed: true, language: language).response
        case .refused(let client):
            return DeviceEndPage(client: client, isAgreed: false, language: language).response
        case .disabled:
            return AuthorizeRefusalPage(
                ofDisabledAccount: outcome.query, requestID: request.requestID, language: language,
                cookie: cookie
            ).response
        case .refusal(let refusal):
            return AuthorizeRefusalPage(
                refusal, query: outcome.query, issuer: authorize.issuer, requestID: request.requestID,
                language: language, cookie: cookie
            ).response
        }
    }

    private func browser(of request: HTTPRequest) -> AuthorizeBrowser {
        let authorize = useCase.authorize
        return AuthorizeBrowser(
            session: CookieField.value(of: authorize.cookieName, in: request.cookie),
            webSignIn: CookieField.value(of: authorize.web.settings.cookieName, in: request.cookie),
            userAgent: request.browser?.userAgent)
    }
}
