public import Cryptography

/// The new refresh token of a line that begins or goes on, as digests; the secrets are in the caller's hand.
public struct NewRefreshToken: Sendable, Hashable {
    public let lineSecretDigest: SHA256Digest
    public let digest: SHA256Digest
    public let doubleSHA512: [UInt8]?

    public init(lineSecretDigest: SHA256Digest, digest: SHA256Digest, doubleSHA512: [UInt8]? = nil) {
        self.lineSecretDigest = lineSecretDigest
        self.digest = digest
        self.doubleSHA512 = doubleSHA512
    }
}
