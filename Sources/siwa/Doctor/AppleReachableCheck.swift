import AppleIDClient

/// Checks that Apple can be reached.
struct AppleReachableCheck: DoctorCheck {
    static let name = "Apple"

    let endpoints: AppleEndpoints
    let response: AppleProbe.Response?

    func run() -> [Finding] {
        guard let response else {
            return [
                .wrong(
                    Self.name, "\(endpoints.baseURL) does not answer",
                    advice:
                        "Allow https connections from this machine to it, and check that DNS works and that the "
                        + "system's certificates (ca-certificates) are installed.")
            ]
        }
        guard response.status == 200 else {
            return [
                .wrong(
                    Self.name, "\(endpoints.keySet) answers with status \(response.status)",
                    advice:
                        "A proxy may have answered. If not, try again later, and look at Apple's status on "
                        + "developer.apple.com/system-status.")
            ]
        }
        guard endpoints == .apple else {
            return [.note(Self.name, "\(endpoints.baseURL) answers, which is not Apple (APPLE_BASE_URL)")]
        }
        return [.good(Self.name, "\(endpoints.baseURL) answers")]
    }
}
