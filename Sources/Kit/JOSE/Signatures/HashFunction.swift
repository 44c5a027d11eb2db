import COpenSSL

/// The hash function in the name of a signature algorithm: its last three digits (RFC 7518 §3.1).
public enum HashFunction: Sendable, CaseIterable {
    case sha256, sha384, sha512

    /// OpenSSL's name of the function.
    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    var digest: OpaquePointer? {
        switch self {
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }

    /// The size of a digest, and of a message authentication code, in bytes.
    var size: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}
