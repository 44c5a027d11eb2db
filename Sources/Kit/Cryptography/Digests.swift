// Cryptography owns digests, message authentication codes, key derivation, random bytes, constant-time
// comparison and the sealing of stored secrets, all based on OpenSSL. It also owns private files. It does not
// own signatures or public keys: JOSE does.

import COpenSSL

/// A SHA-256 digest (FIPS 180-4) of 32 bytes, computed by OpenSSL.
public struct SHA256Digest: Sendable, Hashable {
    /// Size in bytes.
    public static let size = 32
    /// The algorithm. It is fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    package nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)

    /// The digest as four 8-byte words, in memory order.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Creates a digest from its bytes. Returns `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    private init(hashing bytes: UnsafeRawBufferPointer) {
        let status = withUnsafeMutableBytes(of: &words) { output in
            EVP_Digest(bytes.baseAddress, bytes.count, output.baseAddress, nil, Self.algorithm, nil)
        }
        precondition(status == 1, "libcrypto has no SHA-256")
    }

    public static func hash(_ bytes: [UInt8]) -> SHA256Digest {
        bytes.withUnsafeBytes(hash)
    }

    public static func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256Digest {
        SHA256Digest(hashing: bytes)
    }

    /// Hashes the UTF-8 bytes of a string.
    public static func hash(_ text: String) -> SHA256Digest {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    public func withUnsafeBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Swift.withUnsafeBytes(of: words, body)
    }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.words == rhs.words }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension SHA256Digest: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { Self.size }
    public subscript(position: Int) -> UInt8 { withUnsafeBytes { $0[position] } }
}

/// A SHA-512 digest (FIPS 180-4) of 64 bytes, computed by OpenSSL.
public struct SHA512Digest: Sendable, Hashable {
    /// Size in bytes.
    public static let size = 64
    /// The algorithm. It is fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA512", nil)

    public let bytes: [UInt8]

    /// Creates a digest from its bytes. Returns `nil` unless there are exactly 64 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Array(bytes)
    }

    private init(hashing bytes: [UInt8]) {
        self.bytes = [UInt8](unsafeUninitializedCapacity: Self.size) { output, initialized in
            let status = EVP_Digest(bytes, bytes.count, output.baseAddress, nil, Self.algorithm, nil)
            precondition(status == 1, "libcrypto has no SHA-512")
            initialized = Self.size
        }
    }

    public static func hash(_ bytes: [UInt8]) -> SHA512Digest {
        SHA512Digest(hashing: bytes)
    }
}
