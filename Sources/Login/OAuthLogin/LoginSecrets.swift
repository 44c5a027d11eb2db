import Cryptography
import Encodings

/// The random values of one sign-in. They live in memory only.
struct LoginSecrets: Sendable {
    /// Binds the authorization response to this sign-in (RFC 6749 §10.12).
    let state: String
    /// Binds the ID token to this sign-in (OpenID Connect Core §3.1.2.1).
    let nonce: String
    /// `code_verifier` (RFC 7636 §4.1): 43 characters from 32 random bytes.
    let verifier: String

    init() {
        state = Self.random()
        nonce = Self.random()
        verifier = Self.random()
    }

    init(state: String, nonce: String, verifier: String) {
        (self.state, self.nonce, self.verifier) = (state, nonce, verifier)
    }

    /// `code_challenge` with S256 (RFC 7636 §4.2).
    var challenge: String { Base64URL.encode(SHA256Digest.hash(verifier)) }

    private static func random() -> String { Base64URL.encode(SecureRandom.bytes(count: 32)) }
}
