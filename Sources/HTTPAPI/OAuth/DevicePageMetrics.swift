import OAuth

/// Counts the requests to the page for the users of devices.
struct DevicePageMetrics: Sendable {
    private enum Step: String, CaseIterable {
        /// The page that asks for a code.
        case asked
        /// A code that no device shows, or with which none waits any more.
        case wrongCode = "wrong_code"
        /// Too many wrong codes.
        case paused
        /// The page that asks for consent.
        case shown
        /// The page that leads on to the sign-in.
        case continued
        /// A redirect to Apple's page.
        case signIn = "sign_in"
        /// The return from Apple's page, with a session.
        case signedIn = "signed_in"
        case agreed
        /// The user has refused.
        case denied
        /// An error page.
        case refused
    }

    private let cells: [Step: CounterCell]

    init(_ registry: MetricsRegistry) {
        cells = Dictionary(
            uniqueKeysWithValues: Step.allCases.map { step in
                let cell = registry.counter(
                    "siwa_oauth_device_page_total", [("outcome", step.rawValue)],
                    help: "Requests to the page for the users of devices by how they went on.")
                return (step, cell)
            })
    }

    func count(_ outcome: DevicePageOutcome) {
        let step: Step =
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
        cells[step]?.increment(by: 1)
    }
}
