// SecurityEvents owns what leaves the service about events, as pure values: the JSON of the event feed, and
// security event tokens, made, read and verified. It does no I/O, reads no clock, and decides about no account.

public import AppleAccounts
import Encodings
public import JOSE
import StrictJSON

/// A security event token about one account event (RFC 8417).
public struct SecurityEventToken: Sendable {
    /// The `typ` of the header (RFC 8417 §2.3).
    public static let type: StaticString = "secevent+jwt"
    /// The media type of a token that is sent (RFC 8417 §7.2).
    public static let mediaType = "application/\(type)"

    public let issuer: String
    public let audience: String
    public let subject: SecurityEventSubject
    public let event: AccountEvent
    /// Seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, audience: String, subject: SecurityEventSubject, event: AccountEvent, issuedAt: Int64
    ) {
        (self.issuer, self.audience, self.subject) = (issuer, audience, subject)
        (self.event, self.issuedAt) = (event, issuedAt)
    }

    /// The compact serialization. Throws `.signingFailed`.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        let envelope = SecurityEventEnvelope(
            issuer: issuer, audience: audience,
            // The event's own ID, so that every attempt has the same one, and a receiver recognizes
            // repetitions.
            id: event.id.rawValue, issuedAt: issuedAt, happenedAt: event.moment.milliseconds / 1000,
            subject: subject, type: event.kind.securityEventType)
        return try envelope.signed(with: key) { json in
            json.member("event_timestamp", event.moment.milliseconds / 1000)
            if let change = event.kind.credentialChange {
                json.member("credential_type", "sign-in-with-apple")
                json.member("change_type", change)
            }
            // The event in the words of the feed, for receivers that know this service.
            json.name("siwa_event" as StaticString)
            json.value(event)
        }
    }
}
