public import AppleAccounts
public import Cryptography

/// What a refresh token says of itself, and its digest.
public struct PresentedRefreshToken: Sendable, Hashable {
    public let lineID: UniqueID
    public let lineSecretDigest: SHA256Digest
    public let generation: UInt32
    public let digest: SHA256Digest

    public init(lineID: UniqueID, lineSecretDigest: SHA256Digest, generation: UInt32, digest: SHA256Digest) {
        self.lineID = lineID
        self.lineSecretDigest = lineSecretDigest
        self.generation = generation
        self.digest = digest
    }
}
