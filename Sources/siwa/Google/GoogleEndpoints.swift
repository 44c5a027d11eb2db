import AppleIDClient

/// The URLs of Google's endpoints.
struct GoogleEndpoints: Sendable, Equatable {
    /// The keys of Google's ID tokens.
    let certificates: String
    /// The document that names the key set of Google's security event tokens.
    let riscConfiguration: String
    /// The endpoint that receives security event tokens.
    let eventsReport: String

    /// The endpoints of Google itself.
    static let google = GoogleEndpoints(
        certificates: "https://www.googleapis.com/oauth2/v3/certs",
        riscConfiguration: "https://accounts.google.com/.well-known/risc-configuration",
        eventsReport: "https://risc.googleapis.com/v1beta/events:report")

    /// Makes the endpoints of an emulator, which has all endpoints at one origin. Returns `nil` unless the
    /// URL is an absolute http or https URL without user, query and fragment.
    init?(baseURL: String) {
        // Apple's emulator has the same rule.
        guard let base = AppleEndpoints(baseURL: baseURL)?.baseURL else { return nil }
        self.init(
            certificates: "\(base)/oauth2/v3/certs",
            riscConfiguration: "\(base)/.well-known/risc-configuration",
            eventsReport: "\(base)/v1beta/events:report")
    }

    init(certificates: String, riscConfiguration: String, eventsReport: String) {
        self.certificates = certificates
        self.riscConfiguration = riscConfiguration
        self.eventsReport = eventsReport
    }
}
