public import AppleAccounts
public import JOSE
import SecurityEvents

/// Security event tokens by push (RFC 8935 §2).
public struct SecurityEventFormat: EventFormat {
    private let issuer: String
    private let audience: String
    private let key: @Sendable () async throws -> TokenSigningKey

    /// - Parameter key: The key that signs at this moment.
    public init(
        issuer: String, audience: String, key: @escaping @Sendable () async throws -> TokenSigningKey
    ) {
        (self.issuer, self.audience, self.key) = (issuer, audience, key)
    }

    /// Returns `nil` for an event of an erased user without an account: no token can name its subject.
    public func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        guard let subject = SecurityEventSubject(of: event) else { return nil }
        let token = SecurityEventToken(
            issuer: issuer, audience: audience, subject: subject, event: event,
            issuedAt: moment.milliseconds / 1000)
        let text = try token.signed(with: try await key())
        return EventMessage(
            fields: ["content-type": SecurityEventToken.mediaType, "accept": "application/json"],
            body: Array(text.utf8))
    }
}
