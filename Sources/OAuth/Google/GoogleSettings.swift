/// What the service expects of Google's tokens.
public struct GoogleSettings: Sendable, Hashable {
    /// The `iss` values of Google's ID tokens. Old ones have no scheme.
    public let identityIssuers: [String]
    /// The `iss` of Google's security event tokens, and of the accounts that they are about.
    public let eventIssuer: String

    /// Google's own values.
    public static let google = GoogleSettings(
        identityIssuers: ["https://accounts.google.com", "accounts.google.com"],
        eventIssuer: "https://accounts.google.com/")

    /// Other values are for an emulator.
    public init(identityIssuers: [String], eventIssuer: String) {
        (self.identityIssuers, self.eventIssuer) = (identityIssuers, eventIssuer)
    }
}
