public import JOSE

/// Verifies identity tokens (OpenID Connect Core §3.1.3.7).
///
/// Does no I/O and reads no clock, because the key and the time are arguments. Thread-safe.
public struct IdentityTokenVerifier: Sendable {
    private let policy: VerificationPolicy
    private let notBefore: NotBeforeCheck<IdentityTokenClaims>
    private let issuer: IssuerCheck<IdentityTokenClaims>
    private let audience: AudienceCheck<IdentityTokenClaims>
    private let expiration: ExpirationCheck<IdentityTokenClaims>
    private let issuedAt: IssuedAtCheck<IdentityTokenClaims>
    private let authenticationTime: AuthenticationTimeCheck
    private let subject = SubjectCheck()

    public init(policy: VerificationPolicy) {
        self.policy = policy
        notBefore = NotBeforeCheck(leeway: policy.leeway)
        issuer = IssuerCheck(issuers: policy.issuers)
        audience = AudienceCheck(clientIDs: policy.clientIDs)
        expiration = ExpirationCheck(leeway: policy.leeway)
        issuedAt = IssuedAtCheck(leeway: policy.leeway)
        authenticationTime = AuthenticationTimeCheck(leeway: policy.leeway)
    }

    /// Returns the verified identity, or throws the code of the first `VerificationStep` that failed.
    ///
    /// `key` must be the usable key in Apple's set that has the token's `keyID`.
    public func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, expecting expectations: IdentityTokenExpectations,
        at now: NumericDate
    ) throws(AppleTokenError) -> VerifiedIdentity {
        let claims = try IdentityTokenClaims(parsing: token.payload(signedBy: key))
        try check(claims, expectations, at: now) { error throws(AppleTokenError) in throw error }
        return try VerifiedIdentity(checked: claims)
    }

    /// Returns every error in a token's claims, regardless of its signature. A debugger uses this function to
    /// show more than the first error. An empty list proves nothing.
    public func mistakes(
        of token: UnverifiedToken, expecting expectations: IdentityTokenExpectations, at now: NumericDate
    ) -> [AppleTokenError] {
        var mistakes: [AppleTokenError] = []
        do throws(AppleTokenError) {
            let claims = try IdentityTokenClaims(parsing: token.jws.payload)
            try check(claims, expectations, at: now) { mistakes.append($0) }
        } catch {
            mistakes.append(error)
        }
        return mistakes
    }

    /// Returns the malformed claims that are dropped from a token; empty if the claims cannot be read.
    public func dropped(of token: UnverifiedToken) -> DroppedClaims {
        (try? IdentityTokenClaims(parsing: token.jws.payload))?.dropped ?? []
    }

    /// Runs the checks in `VerificationStep` order.
    private func check(
        _ claims: IdentityTokenClaims, _ expectations: IdentityTokenExpectations, at now: NumericDate,
        refusing refuse: Refusing
    ) throws(AppleTokenError) {
        try notBefore.check(claims, at: now, refusing: refuse)
        try issuer.check(claims, at: now, refusing: refuse)
        try audience.check(claims, at: now, refusing: refuse)
        if let clientID = expectations.clientID {
            try RequestedClientIDCheck(clientID: clientID).check(claims, at: now, refusing: refuse)
        }
        try expiration.check(claims, at: now, refusing: refuse)
        try issuedAt.check(claims, at: now, refusing: refuse)
        try authenticationTime.check(claims, at: now, refusing: refuse)
        try subject.check(claims, at: now, refusing: refuse)
        if let nonce = expectations.nonce {
            try NonceCheck(nonce: nonce, encodings: policy.nonceEncodings)
                .check(claims, at: now, refusing: refuse)
        }
        if let code = expectations.authorizationCode {
            try CodeHashCheck(authorizationCode: code).check(claims, at: now, refusing: refuse)
        }
        if let accessToken = expectations.accessToken {
            try AccessTokenHashCheck(accessToken: accessToken).check(claims, at: now, refusing: refuse)
        }
    }
}

/// A deployment's requirements: issuers, client IDs, and tolerated clock skew.
public struct VerificationPolicy: Sendable {
    /// Apple's issuer. It is a constant, because Apple's discovery document once named another issuer for
    /// several days, although the tokens did not change.
    public static let appleIssuer = "https://appleid.apple.com"
    /// Maximum leeway, in seconds. A longer leeway would make expiration meaningless.
    public static let longestLeeway: Int64 = 300
    /// Default leeway, in seconds. If the service's clock is further
    /// behind, every new token is refused as issued in the future.
    public static let usualLeeway: Int64 = 60

    public let issuers: [String]
    /// Accepted audiences: bundle IDs and Services IDs. An empty list accepts no token.
    public let clientIDs: [String]
    /// Tolerated clock skew in seconds, 0 to 300.
    public let leeway: Int64
    public let nonceEncodings: Set<NonceEncoding>

    /// Creates a policy. A `leeway` outside 0...300 is clamped to this range.
    public init(
        issuers: [String] = [appleIssuer], clientIDs: [String], leeway: Int64 = usualLeeway,
        nonceEncodings: Set<NonceEncoding> = Set(NonceEncoding.allCases)
    ) {
        self.issuers = issuers
        self.clientIDs = clientIDs
        self.leeway = min(max(leeway, 0), Self.longestLeeway)
        self.nonceEncodings = nonceEncodings
    }
}

/// Values from the sign-in that the caller knows and the token must match. `nil` values are not checked.
public struct IdentityTokenExpectations: Sendable {
    /// The raw nonce, before the app hashed it.
    public var nonce: String?
    public var clientID: String?
    public var authorizationCode: String?
    public var accessToken: String?

    public init(
        nonce: String? = nil, clientID: String? = nil, authorizationCode: String? = nil,
        accessToken: String? = nil
    ) {
        self.nonce = nonce
        self.clientID = clientID
        self.authorizationCode = authorizationCode
        self.accessToken = accessToken
    }
}

/// A signed-in user's verified claims. Only `IdentityTokenVerifier` creates this value.
///
/// Optional properties are claims that Apple does not always
/// send. The e-mail address does not identify a user.
public struct VerifiedIdentity: Sendable {
    /// `aud`: one of the configured client IDs.
    public let clientID: String
    /// The claims are kept exactly as parsed, because copying a dozen strings costs more than parsing them.
    private let claims: IdentityTokenClaims

    public var issuer: String { claims.issuer }
    /// `sub`: stable for a user within a team, 1 to 255 characters, compared as bytes.
    public var subject: String { claims.subject }
    public var issuedAt: NumericDate { claims.issuedAt }
    public var expiresAt: NumericDate { claims.expiresAt }
    /// `auth_time`: when Apple authenticated the user.
    public var authenticatedAt: NumericDate? { claims.authenticatedAt }
    public var nonce: String? { claims.nonce }
    public var nonceSupported: Bool? { claims.nonceSupported }
    public var codeHash: String? { claims.codeHash }
    public var accessTokenHash: String? { claims.accessTokenHash }
    public var email: String? { claims.email }
    public var emailVerified: Bool? { claims.emailVerified }
    /// True if `email` is a relay address, according to Apple's
    /// claim or, without one, the domain; `nil` if unknown.
    public var isPrivateEmail: Bool? { RelayAddress.isPrivate(claims.isPrivateEmail, address: email) }
    /// `real_user_status`: 0 is unsupported, 1 unknown, 2 likely real.
    public var realUserStatus: Int64? { claims.realUserStatus }
    /// `transfer_sub`: the user's transfer identifier, which
    /// Apple sends only for 60 days after a team transfer.
    public var transferSubject: String? { claims.transferSubject }
    public var organizationID: String? { claims.organizationID }

    /// Malformed claims that were dropped because no decision depends on them.
    public var dropped: DroppedClaims { claims.dropped }

    /// Time at which the user authorized the app: `auth_time`, or `iat` if there is none.
    public var authorizationMoment: NumericDate { authenticatedAt ?? issuedAt }

    /// Creates the identity. The claims must have passed every check.
    init(checked claims: consuming IdentityTokenClaims) throws(AppleTokenError) {
        guard case .one(let clientID) = claims.audience else { throw AppleTokenError(.audienceMismatch) }
        self.clientID = clientID
        self.claims = claims
    }
}
