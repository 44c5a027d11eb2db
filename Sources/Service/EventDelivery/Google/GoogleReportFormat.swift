public import AppleAccounts
public import JOSE
import SecurityEvents

/// Reports to Google of refresh tokens that have ended (RISC, `token-revoked`): one security event token for
/// each event with such a token.
public struct GoogleReportFormat: EventFormat {
    /// The events that can have such a token.
    public static let kinds: Set<AccountEvent.Kind> = [.grantRevoked, .tokenRevoked]

    private let issuer: String
    private let key: @Sendable () async throws -> TokenSigningKey

    /// - Parameter key: The RS256 key that signs at this moment.
    public init(issuer: String, key: @escaping @Sendable () async throws -> TokenSigningKey) {
        (self.issuer, self.key) = (issuer, key)
    }

    /// Returns `nil` for an event without a token: other clients' grants, and ends that Google requested.
    ///
    /// A message is the same in each attempt, except for its signature, and names no user.
    public func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        guard let digest = event.grant?.endedToken else { return nil }
        let report = TokenRevokedEvent(
            issuer: issuer, id: event.id.rawValue, doubleSHA512: digest,
            issuedAt: event.recordedAt.milliseconds / 1000)
        let text = try report.signed(with: try await key())
        return EventMessage(
            fields: ["content-type": SecurityEventToken.mediaType, "accept": "application/json"],
            body: Array(text.utf8))
    }
}
