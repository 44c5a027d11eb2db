import COpenSSL

/// Comparisons whose duration does not depend on where two secrets differ.
public enum ConstantTime {
    /// Compares two values. The duration reveals only if the lengths differ.
    public static func areEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && CRYPTO_memcmp(lhs, rhs, lhs.count) == 0
    }

    public static func areEqual(_ lhs: SHA256Digest, _ rhs: SHA256Digest) -> Bool {
        lhs.withUnsafeBytes { lhs in
            rhs.withUnsafeBytes { CRYPTO_memcmp(lhs.baseAddress, $0.baseAddress, SHA256Digest.size) == 0 }
        }
    }
}
