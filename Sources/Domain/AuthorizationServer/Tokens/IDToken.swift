public import AppleAccounts
import Cryptography
import Encodings
public import JOSE
import StrictJSON

/// The content of an ID token (OpenID Connect Core §2).
public struct IDToken: Sendable {
    /// The `typ` of the header. A resource server that follows RFC 9068 does not take it for an access token.
    public static let type: StaticString = "JWT"

    public let issuer: String
    /// The OAuth client, `aud`.
    public let clientID: OAuthClientID
    public let account: Account
    /// The scope, space-separated. It decides which claims about the user the token has.
    public let scope: String
    /// The `nonce` of the authorization request.
    public let nonce: String?
    /// The access token that is issued with the ID token, for `at_hash`.
    public let accessToken: String
    /// Seconds since 1970, like the other times.
    public let issuedAt: Int64
    public let expiresAt: Int64
    public let authenticatedAt: Int64

    public init(
        issuer: String, clientID: OAuthClientID, account: Account, scope: String, nonce: String?,
        accessToken: String, issuedAt: Int64, expiresAt: Int64, authenticatedAt: Int64
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.account = account
        self.scope = scope
        self.nonce = nonce
        self.accessToken = accessToken
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.authenticatedAt = authenticatedAt
    }

    /// The compact serialization. Throws `.signingFailed`.
    public func signed(with key: TokenSigningKey) throws(JOSEError) -> String {
        var json = JSONWriter(reservingCapacity: 768)
        json.beginObject()
        json.member("iss", issuer)
        json.member("sub", account.id.rawValue)
        json.member("aud", clientID.rawValue)
        json.member("iat", issuedAt)
        json.member("exp", expiresAt)
        json.member("auth_time", authenticatedAt)
        json.member("nonce", ifPresent: nonce)
        json.member("at_hash", Self.hash(ofAccessToken: accessToken))
        UserClaims(of: account, scope: scope).write(into: &json)
        json.endObject()
        return try TypedJWS.sign(json.bytes, type: Self.type, with: key)
    }

    /// The left half of the SHA-256 of the token's ASCII text (OpenID Connect Core §3.1.3.6). Both algorithms
    /// of this service have SHA-256.
    static func hash(ofAccessToken token: String) -> String {
        Base64URL.encode(SHA256Digest.hash(token).bytes.prefix(16))
    }
}
