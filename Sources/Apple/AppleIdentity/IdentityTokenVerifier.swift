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
        try check(claims, expectations, at: now) { error throws(AppleTokenError) in throw error }
        return try VerifiedIdentity(checked: claims)
    }

    /// Returns every error in the claims of a token, regardless of its signature: for a debugger, which shows
    /// more than the first error. An empty list proves nothing.
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

    /// Returns the claims of a token that are dropped for their form. None if the claims cannot be read.
    public func dropped(of token: UnverifiedToken) -> DroppedClaims {
        (try? IdentityTokenClaims(parsing: token.jws.payload))?.dropped ?? []
    }

    /// Runs the checks in the order of `VerificationStep`.
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
