import JOSE

/// Refuses a token that was not minted for this sign-in attempt (OpenID Connect Core §3.1.3.7, rule 11).
struct NonceCheck: ClaimCheck {
    /// The raw nonce that the caller gave its client.
    let nonce: String
    let encodings: Set<NonceEncoding>

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.nonce else {
            // Old systems could not pass a nonce on. Apple says so in the token itself; nothing else excuses it.
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
