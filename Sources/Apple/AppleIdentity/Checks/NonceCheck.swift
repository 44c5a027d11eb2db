package import Cryptography
import Encodings

/// Refuses a token that was not issued for this sign-in attempt (OpenID Connect Core §3.1.3.7, rule 11).
struct NonceCheck: ClaimCheck {
    /// The raw nonce that the backend gave to its app.
    let nonce: String
    let encodings: Set<NonceEncoding>

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.nonce else {
            // Old systems cannot send a nonce, and their tokens state this fact. No other token may omit the
            // nonce.
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

/// Encoding of the raw nonce in the app's request to Apple, which copies it into the token unchanged.
public enum NonceEncoding: String, Sendable, CaseIterable {
    /// The raw nonce, as web clients send it.
    case raw
    /// Its SHA-256 digest in lowercase hexadecimal, as most native SDKs send it.
    case sha256Hexadecimal = "sha256_hex"
    case sha256Base64URL = "sha256_base64url"
    case sha256Base64 = "sha256_base64"

    /// Returns the `nonce` claim that this encoding produces.
    package func claim(for nonce: String, digest: SHA256Digest) -> String {
        switch self {
        case .raw: nonce
        case .sha256Hexadecimal: Hexadecimal.encode(digest)
        case .sha256Base64URL: Base64URL.encode(digest)
        case .sha256Base64:
            String(
                Base64URL.encode(digest).map { character in
                    switch character {
                    case "-": "+"
                    case "_": "/"
                    default: character
                    }
                }) + "="
        }
    }
}
