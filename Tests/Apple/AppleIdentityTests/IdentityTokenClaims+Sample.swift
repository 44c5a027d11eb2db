import TokenMint

@testable import AppleIdentity

extension IdentityTokenClaims {
    /// Passes every check at `NumericDate.sample`; a test changes only the claim that it is about.
    static func sample(_ change: (inout IdentityTokenClaims) -> Void = { _ in }) -> IdentityTokenClaims {
        var claims = IdentityTokenClaims(
            issuer: "https://appleid.apple.com", subject: TokenMint.subject,
            audience: .one(TokenMint.clientID),
            expiresAt: .sample(plus: 86400), issuedAt: .sample, authenticatedAt: .sample)
        change(&claims)
        return claims
    }
}

extension NumericDate {
    static let sample = NumericDate(clampingSecondsSince1970: TokenMint.sampleTime)

    static func sample(plus seconds: Int64) -> NumericDate {
        NumericDate(clampingSecondsSince1970: TokenMint.sampleTime + seconds)
    }
}
