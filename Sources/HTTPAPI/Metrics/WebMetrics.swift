/// Counts the steps of web sign-ins.
struct WebMetrics: Sendable {
    enum Step: String, CaseIterable {
        case started
        case signedIn = "signed_in"
        /// Apple returned an error, usually because the user cancelled.
        case denied
        case refused
        /// The browser was recognized and redirected to the app's page.
        case finished
        case redeemed
    }

    private let cells: [Step: CounterCell]

    init(_ registry: MetricsRegistry) {
        cells = Dictionary(
            uniqueKeysWithValues: Step.allCases.map { step in
                let cell = registry.counter(
                    "siwa_web_sign_ins_total", [("step", step.rawValue)],
                    help: "Web sign-ins by the step that they reached.")
                return (step, cell)
            })
    }

    func count(_ step: Step) {
        cells[step]?.increment(by: 1)
    }
}
