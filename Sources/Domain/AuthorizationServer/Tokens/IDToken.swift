public import AppleAccounts
import Cryptography
import Encodings
public import JOSE
public import StrictJSON

/// The contents of an ID token (OpenID Connect Core §2).
public struct IDToken: Sendable {
    /// The `typ` header. Because of this value, a resource server that follows RFC 9068 rejects an ID token
    /// that is used as an access token.
    public static let type: StaticString = "JWT"

    public let issuer: String
    /// The OAuth client: the `aud` of the token.
    public let clientID: OAuthClientID
    public let account: Account
    /// The scope, space-separated. It determines the user claims in the token.
    public let scope: String
    /// The `nonce` of the authorization request.
    public let nonce: String?
    /// The access token that is issued along with the ID token. `at_hash` is computed from it.
    public let accessToken: String
    /// Seconds since 1970, like the token's other times.
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

    /// Returns the compact serialization. Throws `.signingFailed` if the signing library fails.
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
        UserClaims(of: account, scope: scope).writeMembers(into: &json)
        json.endObject()
        return try TypedJWS.sign(json.bytes, type: Self.type, with: key)
    }

    /// Returns the left half of the access token's SHA-256 digest (OpenID Connect Core §3.1.3.6). SHA-256
    /// is required because both of this service's signature algorithms use it.
    static func hash(ofAccessToken token: String) -> String {
        Base64URL.encode(SHA256Digest.hash(token).bytes.prefix(16))
    }
}

/// An ID token that a client sends back as a hint. It identifies the intended user (OpenID Connect Core
/// §3.1.2.1), or the client that sends the request (OpenID Connect RP-Initiated Logout 1.0 §2).
///
/// A hint may have expired, because clients keep a session's last ID token until the session ends. It
/// therefore only proves that this service once issued it.
public struct IDTokenHint: Sendable, Hashable {
    public let clientID: OAuthClientID
    public let accountID: AccountID

    /// A string of unknown origin that has the form and the header of an ID token from this service.
    public struct Unverified: Sendable {
        fileprivate let jws: TypedJWS
        public var keyID: String { jws.keyID }

        /// Returns `nil` if the text cannot be one of this service's ID tokens, so that no key is looked up
        /// for it. Access tokens and security event tokens, for example, have another `typ`.
        public init?(_ text: String) {
            guard let jws = try? TypedJWS(parsing: Array(text.utf8)),
                jws.type?.lowercased() == IDToken.type.description.lowercased()
            else { return nil }
            self.jws = jws
        }
    }

    /// Returns `nil` if the token is not genuine.
    public init?(_ token: Unverified, issuer: String, key: TokenVerificationKey) {
        guard token.jws.isSigned(by: key), let claims = try? JSONValue(parsing: token.jws.payload),
            claims["iss"]?.string?.isByteEqual(to: issuer) ?? false,
            let clientID = claims["aud"]?.string.flatMap({ OAuthClientID($0) }),
            let accountID = claims["sub"]?.string.flatMap({ AccountID($0) })
        else { return nil }
        (self.clientID, self.accountID) = (clientID, accountID)
    }
}

extension OAuthError {
    /// The error for an authorization request whose `id_token_hint` is not one of this service's ID tokens.
    public static let idTokenHintRefused = OAuthError(
        .invalidRequest,
        "The parameter id_token_hint must be an ID token of this service, expired or not; send another or none."
    )
}

/// The user claims that a scope allows (OpenID Connect Core §5.4), for ID tokens and userinfo.
public struct UserClaims: Sendable {
    private let account: Account
    private let showsEmail: Bool
    private let showsProfile: Bool

    /// - Parameter scope: The granted scope, space-separated.
    public init(of account: Account, scope: String) {
        self.account = account
        let tokens = scope.split(separator: " ")
        showsEmail = tokens.contains { String($0).isByteEqual(to: "email") }
        showsProfile = tokens.contains { String($0).isByteEqual(to: "profile") }
    }
}

extension UserClaims: JSONBody {
    public static var schemaName: String { "UserClaims" }

    private var email: String? { showsEmail ? account.email : nil }
    private var isPrivateEmail: Bool? {
        guard email != nil else { return nil }
        // Apple's identity token omits the claim for an address that is not a relay address.
        return account.isPrivateEmail ?? (account.isEmailVerified == nil ? nil : false)
    }

    private var profile: Profile? { showsProfile ? account.profile : nil }

    private var name: String? {
        let name = [profile?.firstName, profile?.lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    /// Visits the claims, except claims with an unknown value.
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("email", "The e-mail address or the private relay address.") { $0.email }
        member("email_verified", "Apple has verified the address.") {
            $0.email == nil ? nil : $0.account.isEmailVerified ?? false
        }
        member("is_private_email", "The address is a private relay address of Apple's.") { $0.isPrivateEmail }
        member("name", "The full name.") { $0.name }
        member("given_name", "The first name.") { $0.profile?.firstName }
        member("family_name", "The last name.") { $0.profile?.lastName }
    }
}
