/// HKDF with SHA-256 (RFC 5869): makes keys for different purposes out of one.
public enum HKDFSHA256 {
    /// 32 bytes, which tell nothing about those for another salt or another `info`.
    ///
    /// - Parameters:
    ///   - key: Random bytes, which a password is not (§4).
    ///   - salt: Need not be secret. No salt is 32 zeros (§2.2).
    ///   - info: What the result is for.
    public static func deriveKey(from key: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8] {
        let extracted = HMACSHA256(key: salt).code(for: key)
        // 32 bytes are the first block of the output (§2.3), so nothing has to be chained.
        return HMACSHA256(key: extracted).code(for: info + [1])
    }
}
