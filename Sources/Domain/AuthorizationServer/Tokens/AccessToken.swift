public import AppleAccounts
import Encodings
public import JOSE
import StrictJSON

/// The contents of an access token (RFC 9068 §2.2).
public struct AccessToken: Sendable, Hashable {
    /// The `typ` header (RFC 9068 §2.1). None of this service's other tokens has this type, so an ID token is
    /// never accepted as an access token.
    public static let type: StaticString = "at+jwt"
    /// Number of random bytes that follow the token family's ID in the `jti`.
    public static let randomSize = 16

    public let issuer: String
    public let audience: String
    public let accountID: AccountID
    public let clientID: OAuthClientID
    /// The token family's ID, which is part of the `jti`.
    public let familyID: UniqueID
    /// 16 random bytes that make the `jti` of every token unique.
    public let random: [UInt8]
    /// Scope, space-separated.
    public let scope: String
    /// Seconds since 1970, like the token's other times.
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

    /// The `jti` claim: the token family's ID followed by the random bytes, in base64url.
    public var identifier: String { Base64URL.encode(familyID.bytes + random) }

    /// Returns the compact serialization. Throws `.signingFailed` if signing fails.
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

/// Verifies access tokens issued by this service (RFC 9068 §4).
///
/// A verified token is genuine and has not expired. Only the store knows whether the token is still valid.
public struct AccessTokenVerifier: Sendable {
    private let issuer: String

    public init(issuer: String) {
        self.issuer = issuer
    }

    /// An access token of unknown origin. Its form and header match this service's access tokens.
    public struct Unverified: Sendable {
        fileprivate let jws: TypedJWS
        public var keyID: String { jws.keyID }

        /// Returns `nil` if the text cannot be one of this service's access tokens, so that no key is looked
        /// up for it. An ID token, for example, has another `typ`.
        public init?(_ text: String) {
            guard let jws = try? TypedJWS(parsing: Array(text.utf8)), let type = jws.type,
                Self.types.contains(type.lowercased())
            else { return nil }
            self.jws = jws
        }

        /// The accepted values of `typ` (RFC 9068 §4).
        private static let types: Set = ["at+jwt", "application/at+jwt"]
    }

    /// Returns the verified token; `nil` if the signature is invalid or the token has expired.
    ///
    /// - Parameter now: Seconds since 1970.
    public func verify(
        _ token: Unverified, with key: TokenVerificationKey, at now: Int64
    ) -> AccessToken? {
        guard token.jws.isSigned(by: key), let claims = try? JSONValue(parsing: token.jws.payload),
            let token = AccessToken(claims), token.issuer.isByteEqual(to: issuer), now < token.expiresAt
        else { return nil }
        return token
    }
}

extension AccessToken {
    /// Returns `nil` unless every claim is present and has the right type.
    fileprivate init?(_ claims: JSONValue) {
        guard let issuer = claims["iss"]?.string, let audience = claims["aud"]?.string,
            let accountID = claims["sub"]?.string.flatMap({ AccountID($0) }),
            let clientID = claims["client_id"]?.string.flatMap({ OAuthClientID($0) }),
            let identifier = claims["jti"]?.string.flatMap({ Base64URL.decode($0) }),
            identifier.count == 16 + Self.randomSize, let familyID = UniqueID(bytes: identifier.prefix(16)),
            let scope = claims["scope"]?.string, let issuedAt = claims["iat"]?.integer,
            let expiresAt = claims["exp"]?.integer, let authenticatedAt = claims["auth_time"]?.integer
        else { return nil }
        self.init(
            issuer: issuer, audience: audience, accountID: accountID, clientID: clientID, familyID: familyID,
            random: Array(identifier.suffix(Self.randomSize)), scope: scope, issuedAt: issuedAt,
            expiresAt: expiresAt, authenticatedAt: authenticatedAt)
    }
}
