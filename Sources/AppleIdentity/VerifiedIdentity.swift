/// What Apple says about a person who signed in. Only `IdentityTokenVerifier` makes one.
///
/// The optional members are claims that Apple does not always send. The e-mail address is not an identifier.
public struct VerifiedIdentity: Sendable {
    public let issuer: String
    /// `sub`: stable for one person and one team, 1 to 255 characters, compared as bytes.
    public let subject: String
    /// `aud`: one of the configured client IDs.
    public let clientID: String
    public let issuedAt: NumericDate
    public let expiresAt: NumericDate
    /// `auth_time`.
    public let authenticatedAt: NumericDate?
    public let nonce: String?
    public let nonceSupported: Bool?
    public let codeHash: String?
    public let accessTokenHash: String?
    public let email: String?
    public let emailVerified: Bool?
    /// True when `email` is a relay address. Never to be told from the domain.
    public let isPrivateEmail: Bool?
    /// 0 unsupported, 1 unknown, 2 likely real.
    public let realUserStatus: Int64?
    /// `transfer_sub`: only in the 60 days after a team transfer.
    public let transferSubject: String?
    public let organizationID: String?

    /// When the person authorized the app: `auth_time`, else `iat`.
    public var authorizationMoment: NumericDate { authenticatedAt ?? issuedAt }

    /// Made of claims that have passed every check.
    init(checked claims: IdentityTokenClaims) throws(AppleTokenError) {
        guard case .one(let clientID) = claims.audience else { throw AppleTokenError(.audienceMismatch) }
        issuer = claims.issuer
        subject = claims.subject
        self.clientID = clientID
        issuedAt = claims.issuedAt
        expiresAt = claims.expiresAt
        authenticatedAt = claims.authenticatedAt
        nonce = claims.nonce
        nonceSupported = claims.nonceSupported
        codeHash = claims.codeHash
        accessTokenHash = claims.accessTokenHash
        email = claims.email
        emailVerified = claims.emailVerified
        isPrivateEmail = claims.isPrivateEmail
        realUserStatus = claims.realUserStatus
        transferSubject = claims.transferSubject
        organizationID = claims.organizationID
    }
}
