import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes of the device page, called by browsers.
final class DevicePageRoutes: Sendable {
    /// Maximum number of form fields: one field for each optional scope, the token and the decision.
    private static let mostFields = ScopeSet.most + 2
    /// Maximum form size in bytes.
    private static let longestForm = 8192

    private let useCase: DevicePageUseCase
    private let metrics: ClientCaseCounters<DevicePageStep>

    init(useCase: DevicePageUseCase, registry: MetricsRegistry) {
        self.useCase = useCase
        metrics = ClientCaseCounters(registry, labels: ClientLabels(useCase.authorize.clients))
    }

    /// Handles `GET /oauth/device`.
    func show(_ request: HTTPRequest) -> Step<HTTPResponse> {
        let step = useCase.begin(
            String(request.query ?? ""), from: useCase.authorize.browser(of: request),
            at: request.browser?.address)
        return step.map { self.response(to: $0, request) }
    }

    /// Handles `POST /oauth/device`.
    func response(_ request: HTTPRequest) -> Step<HTTPResponse> {
        let form = useCase.authorize.ownForm(
            of: request, mostFields: Self.mostFields, mostBytes: Self.longestForm)
        let consent = ConsentForm(
            token: form?[ConsentPage.tokenField],
            decision: form?[ConsentPage.decisionField].flatMap { ConsentForm.Decision(rawValue: $0) },
            tickedScopes: Set(form?.names(after: ConsentPage.scopePrefix) ?? []))
        let step = useCase.response(
            String(request.query ?? ""), with: consent, from: useCase.authorize.browser(of: request),
            at: request.browser?.address)
        return step.map { self.response(to: $0, request) }
    }

    /// Completes a sign-in that this page has started.
    func arrive(_ authentication: WebAuthentication, query: String, _ request: HTTPRequest) -> HTTPResponse {
        let cookie = useCase.authorize.sessionCookie(of: request)
        return response(to: useCase.arrive(authentication, query: query, sessionCookie: cookie), request)
    }

    /// Handles a failed sign-in that this page has started.
    func refuse(_ failure: WebFailure, query: String, _ request: HTTPRequest) -> HTTPResponse {
        response(to: useCase.refuse(failure, query: query), request)
    }

    private func response(to outcome: DevicePageOutcome, _ request: HTTPRequest) -> HTTPResponse {
        metrics.count(DevicePageStep(outcome), of: outcome.client?.id.rawValue)
        if let client = outcome.client { request.client?.isNamed(client.id.rawValue) }
        let authorize = useCase.authorize
        let cookie = authorize.cookieField(for: outcome.session)
        let language = authorize.language(
            among: RequestedLanguages(tags: outcome.query.language.map { [$0.rawValue] } ?? []), request)
        switch outcome.action {
        case .enter(let fault):
            return DeviceCodePage(query: outcome.query, fault: fault, language: language).response
        case .ask(let prompt):
            return DeviceConsentPage(
                prompt: prompt, query: outcome.query, language: language, cookie: cookie
            ).response
        case .goOn(let code, let address):
            return DeviceContinuePage(code: code, address: address, language: language).response
        case .signIn(let apple): return authorize.redirect(to: apple)
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
                refusal, formRefused: AuthorizeTexts.of(language).refusals.formRefused,
                address: "\(DevicePageUseCase.path)?\(outcome.query.text)", issuer: authorize.issuer,
                requestID: request.requestID, language: language, cookie: cookie
            ).response
        }
    }
}

/// Outcomes of requests to the device page, used as metric labels.
enum DevicePageStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_device_page_total", label: "outcome",
        help: "Requests to the page for the users of devices by client and by how they went on.")

    /// The page asks the user for a code.
    case asked
    /// The user entered an unknown code, or a code for which no device is waiting.
    case wrongCode = "wrong_code"
    /// The user entered too many wrong codes.
    case paused
    /// The page asks the user for consent.
    case shown
    /// The page directs the user to the sign-in.
    case continued
    /// The browser was redirected to Apple's page.
    case signIn = "sign_in"
    /// The browser returned from Apple's page and has a session.
    case signedIn = "signed_in"
    case agreed
    /// The user has refused consent.
    case denied
    /// The user sees an error page.
    case refused

    init(_ outcome: DevicePageOutcome) {
        self =
            switch outcome.action {
            case .enter(nil): .asked
            case .enter(.malformed), .enter(.unknown), .enter(.over): .wrongCode
            case .enter(.paused): .paused
            case .ask: .shown
            case .goOn: .continued
            case .signIn: .signIn
            case .resume: .signedIn
            case .agreed: .agreed
            case .refused: .denied
            case .disabled, .refusal: .refused
            }
    }
}
