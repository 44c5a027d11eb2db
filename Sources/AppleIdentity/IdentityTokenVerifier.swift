public import JOSE

/// Verifies identity tokens (OpenID Connect Core §3.1.3.7).
///
/// It does no I/O and reads no clock: the key and the time are arguments. It is thread-safe.
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

    /// Returns the verified identity, or throws the code of the first step that failed, in the order of
    /// `VerificationStep`.
    ///
    /// `key` must be the usable key of Apple's set with the token's `keyID`.
    public func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, expecting expectations: IdentityTokenExpectations,
        at now: NumericDate
    ) throws(AppleTokenError) -> VerifiedIdentity {
        let claims = try IdentityTokenClaims(parsing: token.payload(signedBy: key))
        try notBefore.check(claims, at: now)
        try issuer.check(claims, at: now)
        try audience.check(claims, at: now)
        if let clientID = expectations.clientID {
            try RequestedClientIDCheck(clientID: clientID).check(claims, at: now)
        }
        try expiration.check(claims, at: now)
        try issuedAt.check(claims, at: now)
        try authenticationTime.check(claims, at: now)
        try subject.check(claims, at: now)
        if let nonce = expectations.nonce {
            try NonceCheck(nonce: nonce, encodings: policy.nonceEncodings).check(claims, at: now)
        }
        if let code = expectations.authorizationCode {
            try CodeHashCheck(authorizationCode: code).check(claims, at: now)
        }
        if let accessToken = expectations.accessToken {
            try AccessTokenHashCheck(accessToken: accessToken).check(claims, at: now)
        }
        return try VerifiedIdentity(checked: claims)
    }
}
