// GoogleIDClient owns the HTTP requests to Google: key sets, and reports of security events, with their time
// limits and size limits. It does not own what a response means for a grant.

/// The URLs of Google's endpoints.
public struct GoogleEndpoints: Sendable, Equatable {
    /// The keys of Google's ID tokens.
    public let certificates: String
    /// Names the keys of Google's security event tokens.
    public let riscConfiguration: String
    /// Takes security event tokens.
    public let eventsReport: String

    /// Google's own.
    public static let google = GoogleEndpoints(
        certificates: "https://www.googleapis.com/oauth2/v3/certs",
        riscConfiguration: "https://accounts.google.com/.well-known/risc-configuration",
        eventsReport: "https://risc.googleapis.com/v1beta/events:report")

    /// Others are for an emulator.
    public init(certificates: String, riscConfiguration: String, eventsReport: String) {
        self.certificates = certificates
        self.riscConfiguration = riscConfiguration
        self.eventsReport = eventsReport
    }
}
