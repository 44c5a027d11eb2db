import OAuth

/// Outcomes of requests to sign out in a browser, as a metric counts them.
enum LogoutStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_logouts_total", label: "outcome",
        help: "Requests to sign out in a browser by client and by how they went on.")

    /// The page that asks the user.
    case asked
    /// A redirect to the client.
    case returned
    /// The page that says that the user is signed out.
    case signedOut = "signed_out"
    case stayed
    case refused

    init(_ outcome: LogoutOutcome) {
        self =
            switch outcome.action {
            case .ask: .asked
            case .redirect: .returned
            case .signedOut: .signedOut
            case .stayed: .stayed
            case .refusal: .refused
            }
    }
}
