/// How a token of this service is signed (RFC 7518 §3.1).
public enum TokenAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA with P-256. A signature takes a fraction of the time of RSA.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5, for resource servers that know nothing else. OpenID Connect requires that ID tokens
    /// can be signed with it.
    case rs256 = "RS256"
}
