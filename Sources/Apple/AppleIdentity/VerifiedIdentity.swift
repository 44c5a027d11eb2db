/// The verified claims about a user who signed in. Only `IdentityTokenVerifier` creates it.
///
/// The optional members are claims that Apple does not always send. The e-mail address is not an identifier.
public struct VerifiedIdentity: Sendable {
    /// `aud`: one of the configured client IDs.
    public let clientID: String
    /// Stored in the form in which they were read, because copying a dozen strings costs more than reading
    /// them.
    private let claims: IdentityTokenClaims

    public var issuer: String { claims.issuer }
    /// `sub`: stable for one user and one team, 1 to 255 characters, compared as bytes.
    public var subject: String { claims.subject }
    public var issuedAt: NumericDate { claims.issuedAt }
    public var expiresAt: NumericDate { claims.expiresAt }
    /// `auth_time`.
    public var authenticatedAt: NumericDate? { claims.authenticatedAt }
    public var nonce: String? { claims.nonce }
    public var nonceSupported: Bool? { claims.nonceSupported }
    public var codeHash: String? { claims.codeHash }
    public var accessTokenHash: String? { claims.accessTokenHash }
    public var email: String? { claims.email }
    public var emailVerified: Bool? { claims.emailVerified }
    /// True when `email` is a relay address, according to Apple's claim or, without the claim, to the domain.
    /// `nil` when unknown.
    public var isPrivateEmail: Bool? { RelayAddress.isPrivate(claims.isPrivateEmail, address: email) }
    /// 0 unsupported, 1 unknown, 2 likely real.
    public var realUserStatus: Int64? { claims.realUserStatus }
    /// `transfer_sub`: only in the 60 days after a team transfer.
    public var transferSubject: String? { claims.transferSubject }
    public var organizationID: String? { claims.organizationID }

    /// The claims that were dropped, because their form is wrong and they decide nothing.
    public var dropped: DroppedClaims { claims.dropped }

    /// Time at which the user authorized the app: `auth_time`, else `iat`.
    public var authorizationMoment: NumericDate { authenticatedAt ?? issuedAt }

    /// The claims must have passed every check.
    init(checked claims: consuming IdentityTokenClaims) throws(AppleTokenError) {
        guard case .one(let clientID) = claims.audience else { throw AppleTokenError(.audienceMismatch) }
        self.clientID = clientID
        self.claims = claims
    }
}
