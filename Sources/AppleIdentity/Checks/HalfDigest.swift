import JOSE

/// The hash that `c_hash` and `at_hash` carry: base64url of the left 16 bytes of the SHA-256 (OpenID Connect Core
/// §3.1.3.6, for RS256).
enum HalfDigest {
    static func matches(_ claim: String, of value: String) -> Bool {
        let expected = Base64URL.encode(SHA256Digest.hash(value).prefix(16))
        return ConstantTime.areEqual(Array(claim.utf8), Array(expected.utf8))
    }
}
