import COpenSSL

/// A SHA-512 digest (FIPS 180-4) of 64 bytes, computed by OpenSSL.
public struct SHA512Digest: Sendable, Hashable {
    /// The size in bytes.
    public static let size = 64
    /// Fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA512", nil)

    public let bytes: [UInt8]

    /// Returns `nil` unless there are 64 bytes.
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
