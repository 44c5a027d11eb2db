public import AppleAccounts
public import JOSE
import StrictJSON

/// A security event token for an OAuth client, about a user who had granted it something.
///
/// It names the user as the client's ID tokens do, and has the type and the moment of the event only: reasons,
/// apps, Apple's `sub` and other clients are not the client's business.
public struct ClientEventToken: Sendable {
    public let issuer: String
    public let client: OAuthClientID
    /// The `sub` of the client's ID tokens.
    public let account: AccountID
    public let event: AccountEvent
    /// Seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, client: OAuthClientID, account: AccountID, event: AccountEvent, issuedAt: Int64
    ) {
        (self.issuer, self.client, self.account) = (issuer, client, account)
        (self.event, self.issuedAt) = (event, issuedAt)
    }

    /// The compact serialization. Throws `.signingFailed`.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        let moment = event.moment.milliseconds / 1000
        let envelope = SecurityEventEnvelope(
            issuer: issuer, audience: client.rawValue, id: event.id.rawValue, issuedAt: issuedAt,
            happenedAt: moment,
            subject: .issuerSubject(issuer: issuer, subject: account.rawValue),
            type: event.kind.securityEventType)
        return try envelope.signed(with: key) { $0.member("event_timestamp", moment) }
    }
}
