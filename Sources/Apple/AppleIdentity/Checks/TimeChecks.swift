import JOSE

/// Refuses a token at or after its expiration time plus the leeway (RFC 7519 §4.1.4).
struct ExpirationCheck<Claims: AppleClaims>: ClaimCheck {
    /// Tolerated clock skew, in seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isUnexpired(claims.expiresAt.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.tokenExpired, detail: "exp=\(claims.expiresAt.secondsSince1970)")
        }
    }
}

/// Refuses a token whose `iat` is in the future (OpenID Connect Core §3.1.3.7, rule 10).
struct IssuedAtCheck<Claims: AppleClaims>: ClaimCheck {
    /// Tolerated clock skew, in seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isPast(claims.issuedAt.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.issuedInFuture, detail: "iat=\(claims.issuedAt.secondsSince1970)")
        }
    }
}

/// Refuses a token before `nbf` minus the leeway (RFC 7519 §4.1.5). A token without `nbf` passes.
struct NotBeforeCheck<Claims: AppleClaims>: ClaimCheck {
    /// Tolerated clock skew, in seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let notBefore = claims.notBefore?.secondsSince1970
        guard TokenTimeCheck(leeway: leeway).isValid(notBefore: notBefore, at: now.secondsSince1970) else {
            throw AppleTokenError(.tokenNotYetValid, detail: "nbf=\(notBefore ?? 0)")
        }
    }
}

/// Refuses an `auth_time` in the future (OpenID Connect Core §2).
///
/// The service compares `auth_time` with revocation times, so an `auth_time` far in the future would take
/// precedence over every later revocation.
struct AuthenticationTimeCheck: ClaimCheck {
    /// Tolerated clock skew, in seconds.
    let leeway: Int64

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let moment = claims.authenticatedAt else { return }
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isPast(moment.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.issuedInFuture, detail: "auth_time=\(moment.secondsSince1970)")
        }
    }
}
