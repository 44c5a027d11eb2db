import OAuth

/// Counts the requests to the page about connected clients.
struct ConnectionsMetrics: Sendable {
    private enum Step: String, CaseIterable {
        case shown
        /// The page that asks for the app.
        case asked
        /// A redirect to Apple's page.
        case signIn = "sign_in"
        /// The return from Apple's page, with a session.
        case signedIn = "signed_in"
        case removed
        case refused
    }

    private let cells: [Step: CounterCell]

    init(_ registry: MetricsRegistry) {
        cells = Dictionary(
            uniqueKeysWithValues: Step.allCases.map { step in
                let cell = registry.counter(
                    "siwa_oauth_connections_total", [("outcome", step.rawValue)],
                    help: "Requests to the page about connected clients by how they went on.")
                return (step, cell)
            })
    }

    func count(_ outcome: ConnectionsOutcome, isRemoval: Bool) {
        let step: Step =
            switch outcome.action {
            case .show: .shown
            case .choose: .asked
            case .signIn: .signIn
            case .redirect: isRemoval ? .removed : .signedIn
            case .refusal: .refused
            }
        cells[step]?.increment(by: 1)
    }
}
