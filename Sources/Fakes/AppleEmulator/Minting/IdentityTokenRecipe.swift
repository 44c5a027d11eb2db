import Cryptography
import Encodings
import StrictJSON

/// The content of an identity token to mint. The default values produce a valid token for the default user
/// and client ID.
public struct IdentityTokenRecipe: Sendable {
    /// The user's `sub` for any team. Default: the default user.
    public var subject: String?
    /// Value of `aud`. If the client ID is not configured, the token has the `sub` for the first team.
    public var clientID: String?
    public var nonce: String?
    /// Code whose `c_hash` is added. `/auth/token` accepts the code if the client ID is configured.
    public var authorizationCode = BoundSecret.none
    /// Binds the code to the web flow, so that its exchange requires the same `redirect_uri`.
    public var redirectURI: String?
    /// Access token whose `at_hash` is added.
    public var accessToken = BoundSecret.none
    public var times = TokenTimes()
    /// Value of `auth_time`. Default: `iat`, as in native apps.
    public var authenticatedAt: Int64?
    /// True to include Apple's `user` object in the result. Default: only at the first authorization.
    public var includesUser: Bool?
    public var forgery = Forgery()

    public init() {}
}

/// A code or access token whose hash is in an identity token.
public enum BoundSecret: Sendable, Equatable {
    case none
    /// A random value in Apple's format.
    case made
    case given(String)

    func value(prefix: Character) -> String? {
        switch self {
        case .none: nil
        case .given(let secret): secret
        case .made:
            "\(prefix)\(Hexadecimal.encode(SecureRandom.bytes(count: 16))).0.mrtz."
                + Base64URL.encode(SecureRandom.bytes(count: 16))
        }
    }

    /// Returns `c_hash` or `at_hash`: the left half of SHA-256, base64url (OpenID Connect Core §3.1.3.6,
    /// §3.3.2.11).
    static func hash(of secret: String) -> String {
        Base64URL.encode(SHA256Digest.hash(secret).prefix(16))
    }
}

/// A token's times, in seconds.
public struct TokenTimes: Sendable, Equatable {
    /// Bounds for all times: 1970 to the end of the year 9999. `Forgery.claims` can set other times.
    public static let bounds: ClosedRange<Int64> = 0...253_402_300_799

    /// Seconds to add to the clock, for tokens from the past or the future.
    public var offset: Int64 = 0
    /// Value of `iat`, which replaces the clock and the offset.
    public var issuedAt: Int64?
    /// Lifetime: `exp` minus `iat`.
    public var lifetime: Int64 = 86_400

    public init() {}

    /// Returns `iat` and `exp`, clamped to the bounds so that they do not overflow.
    func resolved(nowMilliseconds: Int64) -> (issuedAt: Int64, expiresAt: Int64) {
        let issuedAt = self.issuedAt ?? Self.sum(nowMilliseconds / 1000, offset)
        return (issuedAt, Self.sum(issuedAt, lifetime))
    }

    private static func sum(_ lhs: Int64, _ rhs: Int64) -> Int64 {
        let (sum, overflow) = lhs.addingReportingOverflow(rhs)
        return overflow ? (rhs < 0 ? .min : .max) : sum
    }
}

/// An identity token's claims before they are forged, in the order that Apple uses.
struct IdentityTokenClaims {
    /// The issuer in all tokens. The emulator's tokens have the same issuer as Apple's: only the keys differ.
    static let issuer = "https://appleid.apple.com"

    let basis: IdentityTokenBasis
    let nonce: String?
    let authorizationCode: String?
    let accessToken: String?
    /// `issuedAt`, `expiresAt` and `authenticatedAt` are in seconds since 1970.
    let issuedAt: Int64
    let expiresAt: Int64
    let authenticatedAt: Int64

    var object: JSONObject {
        var claims = JSONObject([
            ("iss", .string(Self.issuer)), ("aud", .string(basis.clientID)), ("exp", .integer(expiresAt)),
            ("iat", .integer(issuedAt)), ("sub", .string(basis.identity.subject)),
        ])
        claims["nonce"] = nonce.map { .string($0) }
        claims["c_hash"] = authorizationCode.map { .string(BoundSecret.hash(of: $0)) }
        claims["at_hash"] = accessToken.map { .string(BoundSecret.hash(of: $0)) }
        let user = basis.user
        if basis.sharesEmail, let email = user.shownEmail(to: basis.identity) {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(user.isEmailVerified)
            if user.hidesEmail { claims["is_private_email"] = .bool(true) }
        }
        claims["auth_time"] = .integer(authenticatedAt)
        // In Apple's tokens, `transfer_sub` precedes the next two claims.
        claims["transfer_sub"] = basis.transferSubject.map { .string($0) }
        claims["nonce_supported"] = .bool(true)
        if !basis.isFromWeb { claims["real_user_status"] = user.realUserStatus.map { .integer($0) } }
        return claims
    }
}

/// The data for an identity token, read under one lock, so that signing needs no lock.
struct IdentityTokenBasis {
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let isFirstAuthorization: Bool
    /// True if the app may see the e-mail address.
    let sharesEmail: Bool
    /// True if the user signs in on a web page. Apple then omits `real_user_status`.
    let isFromWeb: Bool
    /// The user's identifier for both teams while the app is being transferred.
    let transferSubject: String?
    let keys: SigningKeys
}
