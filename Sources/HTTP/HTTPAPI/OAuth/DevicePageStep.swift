import OAuth

/// Outcomes of requests to the page for the users of devices, as a metric counts them.
enum DevicePageStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_device_page_total", label: "outcome",
        help: "Requests to the page for the users of devices by client and by how they went on.")

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

    init(_ outcome: DevicePageOutcome) {
        self =
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
    }
}
