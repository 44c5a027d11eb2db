import JOSE

/// Refuses a token whose `iat` lies in the future (OpenID Connect Core §3.1.3.7, rule 10).
struct IssuedAtCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isPast(claims.issuedAt.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.issuedInFuture, detail: "iat=\(claims.issuedAt.secondsSince1970)")
        }
    }
}
