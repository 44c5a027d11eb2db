/// Binds an authorization code to the token that came with it (OpenID Connect Core §3.3.2.11, `c_hash`).
struct CodeHashCheck: ClaimCheck {
    let authorizationCode: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.codeHash else { throw AppleTokenError(.codeHashMissing) }
        guard HalfDigest.matches(claim, of: authorizationCode) else {
            throw AppleTokenError(.codeHashMismatch)
        }
    }
}
