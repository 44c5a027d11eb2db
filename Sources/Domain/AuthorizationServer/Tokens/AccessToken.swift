public import AppleAccounts
import Encodings
public import JOSE
import StrictJSON

/// The content of an access token (RFC 9068 §2.2).
public struct AccessToken: Sendable, Hashable {
    /// The `typ` of the header (RFC 9068 §2.1). No other token of this service has it, so an ID token is
    /// never taken for an access token.
    public static let type: StaticString = "at+jwt"
    /// Number of bytes of `jti` after the token family's ID.
    public static let randomSize = 16

    public let issuer: String
    public let audience: String
    public let accountID: AccountID
    public let clientID: OAuthClientID
    /// The ID of the token family. It is a part of `jti`.
    public let familyID: UniqueID
    /// 16 random bytes, so that no two tokens have the same `jti`.
    public let random: [UInt8]
    /// Space-separated.
    public let scope: String
    /// Seconds since 1970, like the other times.
    public let issuedAt: Int64
    public let expiresAt: Int64
    public let authenticatedAt: Int64

    public init(
        issuer: String, audience: String, accountID: AccountID, clientID: OAuthClientID, familyID: UniqueID,
        random: [UInt8], scope: String, issuedAt: Int64, expiresAt: Int64, authenticatedAt: Int64
    ) {
        precondition(random.count == Self.randomSize, "a jti has 16 random bytes")
        self.issuer = issuer
        self.audience = audience
        self.accountID = accountID
        self.clientID = clientID
        self.familyID = familyID
        self.random = random
        self.scope = scope
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.authenticatedAt = authenticatedAt
    }

    /// The claim `jti`: the token family's ID and the random bytes in base64url.
    public var identifier: String { Base64URL.encode(familyID.bytes + random) }

    /// The compact serialization. Throws `.signingFailed`.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.member("iss", issuer)
        json.member("sub", accountID.rawValue)
        json.member("aud", audience)
        json.member("client_id", clientID.rawValue)
        json.member("iat", issuedAt)
        json.member("exp", expiresAt)
        json.member("auth_time", authenticatedAt)
        json.member("jti", identifier)
        json.member("scope", scope)
        json.endObject()
        return try TypedJWS.sign(json.bytes, type: Self.type, with: key)
    }
}
