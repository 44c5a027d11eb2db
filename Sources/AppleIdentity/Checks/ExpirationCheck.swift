/// Refuses a token at or after its expiration time plus the leeway (RFC 7519 §4.1.4).
struct ExpirationCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        // Neither side can overflow: `NumericDate` is limited, and the leeway is at most 300.
        guard now.secondsSince1970 < claims.expiresAt.secondsSince1970 + leeway else {
            throw AppleTokenError(.tokenExpired, detail: "exp=\(claims.expiresAt.secondsSince1970)")
        }
    }
}
