import Cryptography
import Encodings

/// The hash in `c_hash` and `at_hash`: base64url of the left 16 bytes of the SHA-256 (OpenID Connect Core
/// §3.1.3.6, for RS256).
package enum HalfDigest {
    package static func claim(for value: String) -> String {
        Base64URL.encode(SHA256Digest.hash(value).prefix(16))
    }

    static func matches(_ claim: String, of value: String) -> Bool {
        ConstantTime.areEqual(Array(claim.utf8), Array(self.claim(for: value).utf8))
    }
}
