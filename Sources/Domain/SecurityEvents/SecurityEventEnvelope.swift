import JOSE
import StrictJSON

/// The claims of a security event token around its one event (RFC 8417 §2.2).
struct SecurityEventEnvelope {
    let issuer: String
    let audience: String
    let id: String
    /// Seconds since 1970, as all times.
    let issuedAt: Int64
    /// The moment of the event; `nil` for an event that is about no change.
    var happenedAt: Int64?
    let subject: SecurityEventSubject
    let type: SecurityEventType

    /// The compact serialization. Throws `.signingFailed`.
    ///
    /// - Parameter members: Writes the members of the event.
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
