public import AppleAccounts
public import JOSE
import SecurityEvents

/// Security event tokens, by push (RFC 8935 §2) and by poll (RFC 8936 §2).
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
        return EventMessage(token: try token.signed(with: try await key()))
    }

    public func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage? {
        let token = StreamVerificationToken(
            issuer: issuer, audience: audience, stream: stream, verification: verification,
            issuedAt: moment.milliseconds / 1000)
        return EventMessage(token: try token.signed(with: try await key()))
    }
}

extension EventMessage {
    /// A security event token as it is pushed.
    init(token: String) {
        self.init(
            fields: ["content-type": SecurityEventToken.mediaType, "accept": "application/json"],
            body: Array(token.utf8))
    }
}
