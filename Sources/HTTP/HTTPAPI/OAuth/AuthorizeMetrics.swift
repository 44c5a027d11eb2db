import AuthorizationServer
import OAuth

/// Counts the next steps of requests to the authorization endpoint, by the client that they name.
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

    private let labels: ClientLabels
    /// By client, then by outcome.
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

    /// - Parameter client: The ID of a configured client; `nil` for a request that names none.
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
