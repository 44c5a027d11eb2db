import OAuth

/// Counts the requests to sign out in a browser.
struct LogoutMetrics: Sendable {
    private enum Step: String, CaseIterable {
        /// The page that asks the user.
        case asked
        /// A redirect to the client.
        case returned
        /// The page that says that the user is signed out.
        case signedOut = "signed_out"
        case stayed
        case refused
    }

    private let cells: [Step: CounterCell]

    init(_ registry: MetricsRegistry) {
        cells = Dictionary(
            uniqueKeysWithValues: Step.allCases.map { step in
                let cell = registry.counter(
                    "siwa_oauth_logouts_total", [("outcome", step.rawValue)],
                    help: "Requests to sign out in a browser by how they went on.")
                return (step, cell)
            })
    }

    func count(_ outcome: LogoutOutcome) {
        let step: Step =
            switch outcome.action {
            case .ask: .asked
            case .redirect: .returned
            case .signedOut: .signedOut
            case .stayed: .stayed
            case .refusal: .refused
            }
        cells[step]?.increment(by: 1)
    }
}
