/// Refuses a token whose `iat` lies in the future (OpenID Connect Core §3.1.3.7, rule 10).
struct IssuedAtCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        guard claims.issuedAt.secondsSince1970 <= now.secondsSince1970 + leeway else {
            throw AppleTokenError(.issuedInFuture, detail: "iat=\(claims.issuedAt.secondsSince1970)")
        }
    }
}
