import Encodings

/// Refuses a token of another issuer (OpenID Connect Core §3.1.3.7, rule 2).
struct IssuerCheck<Claims: AppleClaims>: ClaimCheck {
    let issuers: [String]

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        for issuer in issuers where issuer.isByteEqual(to: claims.issuer) { return }
        throw AppleTokenError(.issuerMismatch, detail: "iss=\(claims.issuer)")
    }
}
