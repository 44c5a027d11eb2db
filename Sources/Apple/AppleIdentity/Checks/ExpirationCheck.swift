import JOSE

/// Refuses a token at or after its expiration time plus the leeway (RFC 7519 §4.1.4).
struct ExpirationCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let times = TokenTimeCheck(leeway: leeway)
        guard times.isUnexpired(claims.expiresAt.secondsSince1970, at: now.secondsSince1970) else {
            throw AppleTokenError(.tokenExpired, detail: "exp=\(claims.expiresAt.secondsSince1970)")
        }
    }
}
