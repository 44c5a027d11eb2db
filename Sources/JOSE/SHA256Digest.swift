import COpenSSL

/// SHA-256 (FIPS 180-4) by OpenSSL.
public enum SHA256Digest {
    /// Fetched once: OpenSSL 3 otherwise looks its providers up on every call.
    nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)

    /// The 32 bytes of the digest.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes(hash)
    }

    public static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { output, count in
            let status = EVP_Digest(bytes.baseAddress, bytes.count, output.baseAddress, nil, algorithm, nil)
            precondition(status == 1, "libcrypto has no SHA-256")
            count = 32
        }
    }

    public static func hash(_ text: String) -> [UInt8] {
        hash(Array(text.utf8))
    }
}
