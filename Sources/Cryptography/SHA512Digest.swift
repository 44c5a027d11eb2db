import COpenSSL

/// A SHA-512 digest (FIPS 180-4) of 64 bytes, computed by OpenSSL.
public enum SHA512Digest {
    /// The size in bytes.
    public static let size = 64
    /// Fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA512", nil)

    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { output, initialized in
            let status = EVP_Digest(bytes, bytes.count, output.baseAddress, nil, algorithm, nil)
            precondition(status == 1, "libcrypto has no SHA-512")
            initialized = size
        }
    }
}
