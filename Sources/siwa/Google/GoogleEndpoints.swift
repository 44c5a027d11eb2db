import AppleIDClient

/// The URLs of Google's endpoints.
struct GoogleEndpoints: Sendable, Equatable {
    /// The keys of Google's ID tokens.
    let certificates: String
    /// Names the keys of Google's security event tokens.
    let riscConfiguration: String
    /// Takes security event tokens.
    let eventsReport: String

    /// Google's own.
    static let google = GoogleEndpoints(
        certificates: "https://www.googleapis.com/oauth2/v3/certs",
        riscConfiguration: "https://accounts.google.com/.well-known/risc-configuration",
        eventsReport: "https://risc.googleapis.com/v1beta/events:report")

    /// Those of an emulator, which has all of them at one origin. Returns `nil` unless the URL is an absolute
    /// http or https URL without user, query and fragment.
    init?(baseURL: String) {
        // The rule is the one of Apple's emulator.
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
