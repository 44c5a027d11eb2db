import AuthorizationServer
import OAuth

/// Says why token requests were refused: to operators in the log and in the metrics, and in development also
/// to the client.
struct TokenRefusals: Sendable {
    private let labels: ClientLabels
    /// By client.
    private let cells: [String: [TokenRefusalReason: CounterCell]]
    /// True in development.
    let areExplained: Bool

    init(_ registry: MetricsRegistry, areExplained: Bool, labels: ClientLabels) {
        self.labels = labels
        cells = Dictionary(
            uniqueKeysWithValues: labels.all.map { client in
                let reasons = TokenRefusalReason.allCases.map { reason in
                    let cell = registry.counter(
                        "siwa_oauth_token_refusals_total",
                        [("client", client), ("reason", reason.rawValue)],
                        help: "Refused token requests by the client that they name, and by reason.")
                    return (reason, cell)
                }
                return (client, Dictionary(uniqueKeysWithValues: reasons))
            })
        self.areExplained = areExplained
    }

    /// Counts a refusal, and records it for the log line of its request.
    ///
    /// - Parameter type: `nil` for an unknown grant type.
    func note(_ reason: TokenRefusalReason, of type: GrantType?, _ request: HTTPRequest) {
        cells[labels.label(of: request.client?.name)]?[reason]?.increment(by: 1)
        request.client?.isRefused(reason.rawValue, grantType: type?.label)
    }

    /// Notes the reason of an error, and returns the error as the client sees it.
    func noted(_ error: any Error, of type: GrantType?, _ request: HTTPRequest) -> any Error {
        switch error {
        case let error as OAuthError:
            guard let reason = error.reason else { return error }
            note(reason, of: type, request)
            return areExplained ? error.explained : error
        case let error as TokenEndpointError:
            guard let reason = error.error.reason else { return error }
            note(reason, of: type, request)
            guard areExplained else { return error }
            return TokenEndpointError(error.error.explained, usedBasic: error.usedBasic)
        case let paused as GuessingPaused:
            note(.clientNotAuthenticated, of: type, request)
            return paused
        default: return error
        }
    }
}
