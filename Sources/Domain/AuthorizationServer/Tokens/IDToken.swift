public import AppleAccounts
import Cryptography
import Encodings
public import JOSE
public import StrictJSON

/// The content of an ID token (OpenID Connect Core §2).
public struct IDToken: Sendable {
    /// The `typ` of the header. A resource server that follows RFC 9068
    /// does not accept the token as an access token.
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

    /// Returns the compact serialization. Throws `.signingFailed`.
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

    /// Returns the left half of the SHA-256 of the token's ASCII text (OpenID Connect Core §3.1.3.6).
    /// Both algorithms of this service use SHA-256.
    static func hash(ofAccessToken token: String) -> String {
        Base64URL.encode(SHA256Digest.hash(token).bytes.prefix(16))
    }
}

/// An ID token that is sent back as a hint: about the intended user (OpenID Connect Core §3.1.2.1), and about
/// the client that sends the request (OpenID Connect RP-Initiated Logout 1.0 §2).
///
/// A hint may have expired: clients keep the last ID token of a session until its end. So it
/// proves only that this service once issued it.
public struct IDTokenHint: Sendable, Hashable {
    public let clientID: OAuthClientID
    public let accountID: AccountID

    /// A text of unknown origin, with the form and the header of an ID token of this service.
    public struct Unverified: Sendable {
        fileprivate let jws: TypedJWS
        public var keyID: String { jws.keyID }

        /// Returns `nil` for a text that cannot be an ID token of this service, so that no key is looked up
        /// for it. An access token or a security event token, for example, has another `typ`.
        public init?(_ text: String) {
            guard let jws = try? TypedJWS(parsing: Array(text.utf8)),
                jws.type?.lowercased() == IDToken.type.description.lowercased()
            else { return nil }
            self.jws = jws
        }
    }

    /// Returns `nil` when the token is not genuine.
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
    /// The error for an `id_token_hint` of an authorization request that is not an ID token of this service.
    public static let idTokenHintRefused = OAuthError(
        .invalidRequest,
        "The parameter id_token_hint must be an ID token of this service, expired or not; send another or none."
    )
}

/// The claims about a user that a scope allows (OpenID Connect Core §5.4), in ID tokens and in userinfo.
public struct UserClaims: Sendable {
    private let account: Account
    private let showsEmail: Bool
    private let showsProfile: Bool

    /// - Parameter scope: Scope, space-separated.
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
        // Apple omits the claim for a signed address that is not a relay address.
        return account.isPrivateEmail ?? (account.isEmailVerified == nil ? nil : false)
    }

    private var profile: Profile? { showsProfile ? account.profile : nil }

    private var name: String? {
        let name = [profile?.firstName, profile?.lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    /// Visits the claims. Omits unknown values.
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
