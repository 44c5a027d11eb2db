import AppleIDClient

/// The URLs of Google's endpoints.
struct GoogleEndpoints: Sendable, Equatable {
    /// The keys of Google's ID tokens.
    let certificates: String
    /// The document that names the key set of Google's security event tokens.
    let riscConfiguration: String
    /// The endpoint that receives security event tokens.
    let eventsReport: String
    /// The API that registers the receiver of Google's own security events, without the names of its calls.
    let riscAPI: String

    /// The endpoints of Google itself.
    static let google = GoogleEndpoints(
        certificates: "https://www.googleapis.com/oauth2/v3/certs",
        riscConfiguration: "https://accounts.google.com/.well-known/risc-configuration",
        eventsReport: "https://risc.googleapis.com/v1beta/events:report",
        riscAPI: "https://risc.googleapis.com/v1beta")

    /// Makes the endpoints of an emulator, which has all endpoints at one origin. Returns `nil` unless the
    /// URL is an absolute http or https URL without user, query and fragment.
    init?(baseURL: String) {
        // Apple's emulator has the same rule.
        guard let base = AppleEndpoints(baseURL: baseURL)?.baseURL else { return nil }
        self.init(
            certificates: "\(base)/oauth2/v3/certs",
            riscConfiguration: "\(base)/.well-known/risc-configuration",
            eventsReport: "\(base)/v1beta/events:report", riscAPI: "\(base)/v1beta")
    }

    init(certificates: String, riscConfiguration: String, eventsReport: String, riscAPI: String) {
        self.certificates = certificates
        self.riscConfiguration = riscConfiguration
        self.eventsReport = eventsReport
        self.riscAPI = riscAPI
    }
}
