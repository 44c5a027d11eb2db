/// A nonce that this service minted, to be used in at most one sign-in and before it expires.
public struct NonceRecord: Sendable, Hashable {
    public let digest: NonceDigest
    public let expiresAt: Moment
    public let isUsed: Bool

    public init(digest: NonceDigest, expiresAt: Moment, isUsed: Bool = false) {
        (self.digest, self.expiresAt, self.isUsed) = (digest, expiresAt, isUsed)
    }
}
