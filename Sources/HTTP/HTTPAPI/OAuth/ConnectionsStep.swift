import OAuth

/// Outcomes of requests to the page about connected clients, as a metric counts them.
enum ConnectionsStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_connections_total", label: "outcome",
        help: "Requests to the page about connected clients by how they went on.")

    case shown
    /// The page that asks for the app.
    case asked
    /// A redirect to Apple's page.
    case signIn = "sign_in"
    /// The return from Apple's page, with a session.
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
