public import Cryptography
import Encodings
public import JOSE
import StrictJSON

/// A security event token that reports one account event (RFC 8417).
public struct SecurityEventToken: Sendable {
    /// The `typ` header parameter (RFC 8417 §2.3).
    public static let type: StaticString = "secevent+jwt"
    /// The media type of a token in transit (RFC 8417 §7.2).
    public static let mediaType = "application/\(type)"

    public let issuer: String
    public let audience: String
    public let subject: SecurityEventSubject
    public let event: AccountEvent
    /// Time of issue in seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, audience: String, subject: SecurityEventSubject, event: AccountEvent, issuedAt: Int64
    ) {
        (self.issuer, self.audience, self.subject) = (issuer, audience, subject)
        (self.event, self.issuedAt) = (event, issuedAt)
    }

    /// Returns the compact serialization. Throws `.signingFailed` if the signing library fails.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        let envelope = SecurityEventEnvelope(
            issuer: issuer, audience: audience,
            // This is the event's own ID, so it is the same in every attempt, and receivers can recognize
            // repetitions.
            id: event.id.rawValue, issuedAt: issuedAt, happenedAt: event.moment.milliseconds / 1000,
            subject: subject, type: event.kind.securityEventType)
        return try envelope.signed(with: key) { json in
            json.member("event_timestamp", event.moment.milliseconds / 1000)
            if let change = event.kind.credentialChange {
                json.member("credential_type", "sign-in-with-apple")
                json.member("change_type", change)
            }
            // The event in the feed's format, for receivers that support it.
            json.name("siwa_event" as StaticString)
            event.write(into: &json)
        }
    }
}

/// A security event token for an OAuth client, about a user who had granted the client access.
///
/// It identifies the user as the client's ID tokens do, and contains only the type and time of the event:
/// the client must not learn reasons, apps, Apple's `sub` or other clients.
public struct ClientEventToken: Sendable {
    public let issuer: String
    public let client: OAuthClientID
    /// The `sub` in the client's ID tokens.
    public let account: AccountID
    public let event: AccountEvent
    /// Time of issue in seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, client: OAuthClientID, account: AccountID, event: AccountEvent, issuedAt: Int64
    ) {
        (self.issuer, self.client, self.account) = (issuer, client, account)
        (self.event, self.issuedAt) = (event, issuedAt)
    }

    /// Returns the compact serialization. Throws `.signingFailed` if the signing library fails.
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

/// The security event token that tests a receiver's stream (OpenID
/// Shared Signals Framework 1.0 §8.1.4). Its subject is the stream.
public struct StreamVerificationToken: Sendable {
    public let issuer: String
    public let audience: String
    public let stream: ReceiverName
    public let verification: StreamVerification
    /// Time of issue in seconds since 1970.
    public let issuedAt: Int64

    public init(
        issuer: String, audience: String, stream: ReceiverName, verification: StreamVerification,
        issuedAt: Int64
    ) {
        (self.issuer, self.audience, self.stream) = (issuer, audience, stream)
        (self.verification, self.issuedAt) = (verification, issuedAt)
    }

    /// Returns the compact serialization. Throws `.signingFailed` if the signing library fails.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        let envelope = SecurityEventEnvelope(
            issuer: issuer, audience: audience, id: verification.id.rawValue, issuedAt: issuedAt,
            subject: .opaque(stream.rawValue), type: .verification)
        return try envelope.signed(with: key) { json in
            json.member("state", ifPresent: verification.state)
        }
    }
}

/// The security event token that informs Google that a refresh token has ended (RFC 8417, RISC).
public struct TokenRevokedEvent: Sendable, Hashable {
    static let audience = "google_account_linking"

    public let issuer: String
    /// The `jti` claim. It is the same in every delivery, so that Google recognizes repetitions.
    public let id: String
    /// Double SHA-512 of the token's text, which Google uses to find the token.
    public let doubleSHA512: SHA512Digest
    /// Time of issue in seconds since 1970.
    public let issuedAt: Int64

    public init(issuer: String, id: String, doubleSHA512: SHA512Digest, issuedAt: Int64) {
        (self.issuer, self.id, self.doubleSHA512, self.issuedAt) = (issuer, id, doubleSHA512, issuedAt)
    }

    /// Returns the compact serialization. Google accepts only RS256. Throws `.signingFailed` if the signing
    /// library fails.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        var json = JSONWriter(reservingCapacity: 640)
        json.beginObject()
        json.member("iss", issuer)
        json.member("aud", Self.audience)
        json.member("iat", issuedAt)
        json.member("jti", id)
        json.name("events")
        json.beginObject()
        json.name(SecurityEventType.tokenRevoked.uri)
        json.beginObject()
        json.member("subject_type", "oauth_token")
        json.member("token_type", "refresh_token")
        json.member("token_identifier_alg", "hash_SHA512_double")
        json.member("token", Hexadecimal.encode(doubleSHA512.bytes))
        json.endObject()
        json.endObject()
        json.endObject()
        return try TypedJWS.sign(json.bytes, type: SecurityEventToken.type, with: key)
    }
}

/// The claims that surround the single event in a security event token (RFC 8417 §2.2).
struct SecurityEventEnvelope {
    let issuer: String
    let audience: String
    let id: String
    /// Seconds since 1970, like all times here.
    let issuedAt: Int64
    /// The time of the event; `nil` for an event that reports no change.
    var happenedAt: Int64?
    let subject: SecurityEventSubject
    let type: SecurityEventType

    /// Returns the compact serialization. Throws `.signingFailed` if the signing library fails.
    ///
    /// - Parameter members: Writes the event's members.
    func signed(
        with key: TokenSigningKey, _ members: (inout JSONWriter) -> Void
    ) throws(JOSEError) -> String {
        var json = JSONWriter(reservingCapacity: 1024)
        json.beginObject()
        json.member("iss", issuer)
        json.member("aud", audience)
        json.member("iat", issuedAt)
        json.member("jti", id)
        if let happenedAt { json.member("toe", happenedAt) }
        json.name("sub_id")
        json.value(subject)
        json.name("events")
        json.beginObject()
        json.name(type.uri)
        json.beginObject()
        members(&json)
        json.endObject()
        json.endObject()
        json.endObject()
        return try TypedJWS.sign(json.bytes, type: SecurityEventToken.type, with: key)
    }
}
