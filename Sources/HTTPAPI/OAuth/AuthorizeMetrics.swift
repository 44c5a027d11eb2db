import AuthorizationServer
import OAuth

/// Counts the next steps of requests to the authorization endpoint.
struct AuthorizeMetrics: Sendable {
    enum Step: String, CaseIterable {
        /// A redirect to Apple's page.
        case signIn = "sign_in"
        /// The return from Apple's page, with a session.
        case signedIn = "signed_in"
        /// The consent page.
        case asked
        case code
        /// A page with the reason for which there is no redirect.
        case page
        /// A page that says that the account is disabled.
        case accountDisabled = "account_disabled"
        /// A posted form that was refused.
        case formRefused = "form_refused"
    }

    /// Errors that clients receive at their redirect URIs.
    private static let errors: [OAuthError.Code] = [
        .invalidRequest, .accessDenied, .unsupportedResponseType, .invalidScope, .invalidTarget,
        .interactionRequired, .loginRequired, .consentRequired, .requestNotSupported, .requestURINotSupported,
        .temporarilyUnavailable, .serverError,
    ]

    private let cells: [String: CounterCell]

    init(_ registry: MetricsRegistry) {
        let outcomes = Step.allCases.map(\.rawValue) + Self.errors.map(\.rawValue)
        cells = Dictionary(
            uniqueKeysWithValues: outcomes.map { outcome in
                let cell = registry.counter(
                    "siwa_oauth_authorizations_total", [("outcome", outcome)],
                    help: "Requests to the authorization endpoint by how they went on.")
                return (outcome, cell)
            })
    }

    func count(_ outcome: AuthorizeOutcome) {
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
        cells[word]?.increment(by: 1)
    }
}
