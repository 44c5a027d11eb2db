import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn

/// The routes of the connections page, called by browsers.
final class ConnectionsRoutes: Sendable {
    /// Maximum form size in bytes. Browsers send a token and a grant ID.
    private static let longestForm = 1024

    private let useCase: ConnectionsUseCase
    private let metrics: CaseCounters<ConnectionsStep>

    init(useCase: ConnectionsUseCase, registry: MetricsRegistry) {
        self.useCase = useCase
        metrics = CaseCounters(registry)
    }

    /// Handles `GET /account/connections`.
    func show(_ request: HTTPRequest) -> Step<HTTPResponse> {
        useCase.begin(String(request.query ?? ""), from: useCase.authorize.browser(of: request)).map {
            self.response(to: $0, request)
        }
    }

    /// Handles `POST /account/connections`.
    func remove(_ request: HTTPRequest) -> Step<HTTPResponse> {
        let form = useCase.authorize.ownForm(of: request, mostFields: 4, mostBytes: Self.longestForm)
        let removal = ConnectionsForm(
            token: form?[ConsentPage.tokenField], grant: form?[ConnectionsPage.grantField])
        let query = String(request.query ?? "")
        return useCase.remove(removal, query: query, from: useCase.authorize.browser(of: request)).map {
            self.response(to: $0, isRemoval: true, request)
        }
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

    private func response(
        to outcome: ConnectionsOutcome, isRemoval: Bool = false, _ request: HTTPRequest
    ) -> HTTPResponse {
        metrics.count(ConnectionsStep(outcome, isRemoval: isRemoval))
        let authorize = useCase.authorize
        let cookie = authorize.cookieField(for: outcome.session)
        let language = authorize.language(
            among: RequestedLanguages(tags: outcome.query.language.map { [$0.rawValue] } ?? []), request)
        switch outcome.action {
        case .redirect(let location): return .redirect(to: location, cookie: cookie)
        case .signIn(let apple): return authorize.redirect(to: apple)
        case .show(let list):
            return ConnectionsPage(list: list, query: outcome.query, language: language).response
        case .choose(let apps):
            return AppChoicePage(apps: apps, query: outcome.query, language: language).response
        case .refusal(let refusal):
            return AuthorizeRefusalPage(
                refusal, formRefused: ConnectionsTexts.of(language).formRefused,
                address: "\(ConnectionsUseCase.path)?\(outcome.query.text)", issuer: authorize.issuer,
                requestID: request.requestID, language: language, cookie: cookie
            ).response
        }
    }
}

/// Outcomes of requests to the connections page, used as metric labels.
enum ConnectionsStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_connections_total", label: "outcome",
        help: "Requests to the page about connected clients by how they went on.")

    case shown
    /// The page asks the user to choose an app.
    case asked
    /// The browser was redirected to Apple's page.
    case signIn = "sign_in"
    /// The browser returned from Apple's page and has a session.
    case signedIn = "signed_in"
    case removed
    case refused

    init(_ outcome: ConnectionsOutcome, isRemoval: Bool) {
        self =
            switch outcome.action {
            case .show: .shown
            case .choose: .asked
            case .signIn: .signIn
            case .redirect: isRemoval ? .removed : .signedIn
            case .refusal: .refused
            }
    }
}
