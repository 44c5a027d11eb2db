/// HMAC-SHA-256 (RFC 2104, FIPS 198-1) with one key. The key appears in no description.
public struct HMACSHA256: Sendable {
    /// The block size of SHA-256 in bytes.
    private static let blockSize = 64

    private let inner: [UInt8]
    private let outer: [UInt8]

    /// - Parameter key: Any number of bytes. A key of more than 64 bytes is hashed first (RFC 2104 §2).
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

    /// Returns the authentication code of a message, 32 bytes.
    public func code(for message: some Collection<UInt8>) -> [UInt8] {
        let digest = SHA256Digest.hash(inner + message)
        return SHA256Digest.hash(digest.withUnsafeBytes { outer + $0 }).bytes
    }

    /// The duration does not depend on where the codes differ.
    public func isValid(_ code: [UInt8], for message: some Collection<UInt8>) -> Bool {
        ConstantTime.areEqual(code, self.code(for: message))
    }
}

extension HMACSHA256: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "HMAC-SHA-256" }
    public var debugDescription: String { description }
    /// `dump` and string interpolation of types that contain a key use these.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
