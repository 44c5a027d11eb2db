import JOSE

/// Refuses an `auth_time` from the future (OpenID Connect Core §2).
///
/// `auth_time` is compared with the times of revocations: an `auth_time` far in the future would win over
/// every later revocation.
struct AuthenticationTimeCheck: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let moment = claims.authenticatedAt else { return }
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isPast(moment.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.issuedInFuture, detail: "auth_time=\(moment.secondsSince1970)")
        }
    }
}
