/// Binds an access token to the identity token that came with it (OpenID Connect Core §3.1.3.6, `at_hash`).
struct AccessTokenHashCheck: ClaimCheck {
    let accessToken: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.accessTokenHash else { throw AppleTokenError(.accessTokenHashMissing) }
        guard HalfDigest.matches(claim, of: accessToken) else {
            throw AppleTokenError(.accessTokenHashMismatch)
        }
    }
}
