public import Cryptography
import Encodings
public import JOSE
import StrictJSON

/// The security event token that notifies Google of the end of a refresh token (RFC 8417, RISC).
public struct TokenRevokedEvent: Sendable, Hashable {
    static let audience = "google_account_linking"

    public let issuer: String
    /// The claim `jti`. The same in each delivery, so that a repetition is recognized.
    public let id: String
    /// Double SHA-512 of the token's text, by which Google finds the token.
    public let doubleSHA512: SHA512Digest
    /// Seconds since 1970.
    public let issuedAt: Int64

    public init(issuer: String, id: String, doubleSHA512: SHA512Digest, issuedAt: Int64) {
        (self.issuer, self.id, self.doubleSHA512, self.issuedAt) = (issuer, id, doubleSHA512, issuedAt)
    }

    /// The compact serialization. Google accepts RS256 only. Throws `.signingFailed`.
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
