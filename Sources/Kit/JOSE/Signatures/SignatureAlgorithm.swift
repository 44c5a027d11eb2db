/// Signature algorithms of this service's own tokens (RFC 7518 §3.3, §3.4).
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case ES256
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case RS256
}
