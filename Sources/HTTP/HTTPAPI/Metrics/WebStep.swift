/// Steps of web sign-ins, as a metric counts them.
enum WebStep: String, CountedCase {
    static let series = CountedSeries(
        "siwa_web_sign_ins_total", label: "step",
        help: "Web sign-ins by the step that they reached.")

    case started
    case signedIn = "signed_in"
    /// Apple returned an error, usually because the user cancelled.
    case denied
    case refused
    /// The browser was recognized and redirected to the app's page.
    case finished
    case redeemed
}
