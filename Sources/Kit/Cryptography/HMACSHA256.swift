import COpenSSL

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1) with one key. The key never appears in a description.
public struct HMACSHA256: Sendable {
    /// Block size of SHA-256 in bytes.
    private static let blockSize = 64

    private let inner: [UInt8]
    private let outer: [UInt8]

    /// - Parameter key: Any number of bytes. HMAC hashes a key of more than 64 bytes first (RFC 2104 §2).
    public init(key: [UInt8]) {
        let key = key.count > Self.blockSize ? SHA256Digest.hash(key).bytes : key
        var inner = [UInt8](repeating: 0x36, count: Self.blockSize)
        var outer = [UInt8](repeating: 0x5C, count: Self.blockSize)
        for index in key.indices {
            inner[index] ^= key[index]
            outer[index] ^= key[index]
        }
        (self.inner, self.outer) = (inner, outer)
    }

    /// Returns the 32-byte authentication code of a message.
    public func code(for message: some Collection<UInt8>) -> [UInt8] {
        let digest = SHA256Digest.hash(inner + message)
        return SHA256Digest.hash(digest.withUnsafeBytes { outer + $0 }).bytes
    }

    /// Returns true if the code authenticates the message. Compares in constant time.
    public func isValid(_ code: [UInt8], for message: some Collection<UInt8>) -> Bool {
        ConstantTime.areEqual(code, self.code(for: message))
    }
}

extension HMACSHA256: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "HMAC-SHA-256" }
    public var debugDescription: String { description }
    /// Hides the key: `dump` and string interpolation of types that contain this value use the mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// HKDF with SHA-256 (RFC 5869), which derives keys for different purposes from one key.
public enum HKDFSHA256 {
    /// Returns a 32-byte key. It reveals nothing about the keys for other salts or other values of `info`.
    ///
    /// - Parameters:
    ///   - key: Random bytes, not a password (§4).
    ///   - salt: Salt, which may be public. An empty salt acts as 32 zero bytes (§2.2).
    ///   - info: Purpose of the derived key.
    public static func deriveKey(from key: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8] {
        let extracted = HMACSHA256(key: salt).code(for: key)
        // The first output block already has 32 bytes (§2.3), so one step is enough.
        return HMACSHA256(key: extracted).code(for: info + [1])
    }
}

/// Constant-time comparisons: their duration does not depend on the position of the first difference.
public enum ConstantTime {
    /// Compares two values. The duration reveals only whether the lengths differ.
    public static func areEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && CRYPTO_memcmp(lhs, rhs, lhs.count) == 0
    }

    public static func areEqual(_ lhs: SHA256Digest, _ rhs: SHA256Digest) -> Bool {
        lhs.withUnsafeBytes { lhs in
            rhs.withUnsafeBytes { CRYPTO_memcmp(lhs.baseAddress, $0.baseAddress, SHA256Digest.size) == 0 }
        }
    }
}
