import Cryptography

/// Refuses a token that was not issued for this sign-in attempt (OpenID Connect Core §3.1.3.7, rule 11).
struct NonceCheck: ClaimCheck {
    /// The raw nonce that the backend gave to its app.
    let nonce: String
    let encodings: Set<NonceEncoding>

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.nonce else {
            // Old systems cannot send a nonce, and Apple says so in the token. There is no other exception.
            if claims.nonceSupported == false { return }
            throw AppleTokenError(.nonceMissing)
        }
        let digest = SHA256Digest.hash(nonce)
        let isMatch = encodings.contains { encoding in
            ConstantTime.areEqual(
                Array(claim.utf8), Array(encoding.claim(for: nonce, digest: digest).utf8))
        }
        guard isMatch else { throw AppleTokenError(.nonceMismatch) }
    }
}
