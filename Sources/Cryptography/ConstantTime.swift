import COpenSSL

/// Comparisons whose duration does not depend on where two secrets differ.
public enum ConstantTime {
    /// The duration reveals only whether the lengths differ.
    public static func areEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && CRYPTO_memcmp(lhs, rhs, lhs.count) == 0
    }
}
