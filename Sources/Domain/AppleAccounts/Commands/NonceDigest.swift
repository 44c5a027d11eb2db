public import Cryptography

/// The SHA-256 digest of a nonce. The nonce itself is never stored.
public struct NonceDigest: Sendable, Hashable {
    public let digest: SHA256Digest

    public init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Returns `nil` unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes) else { return nil }
        self.digest = digest
    }

    public var bytes: [UInt8] { digest.bytes }
}
