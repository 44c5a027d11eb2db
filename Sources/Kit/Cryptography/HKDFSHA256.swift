/// HKDF with SHA-256 (RFC 5869): derives keys for different purposes from one key.
public enum HKDFSHA256 {
    /// Returns 32 bytes, which reveal nothing about the result for another salt or `info`.
    ///
    /// - Parameters:
    ///   - key: Random bytes, not a password (§4).
    ///   - salt: Need not be secret. Without a salt, 32 zeros are used (§2.2).
    ///   - info: The purpose of the result.
    public static func deriveKey(from key: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8] {
        let extracted = HMACSHA256(key: salt).code(for: key)
        // 32 bytes are the first block of the output (§2.3), so there is only one step.
        return HMACSHA256(key: extracted).code(for: info + [1])
    }
}
