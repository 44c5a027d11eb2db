/// A nonce that a sign-in has used up.
public struct UsedNonce: Sendable, Hashable {
    public let digest: NonceDigest
    /// When no token that carries it can be valid any more.
    public let keptUntil: Moment

    public init(digest: NonceDigest, keptUntil: Moment) {
        (self.digest, self.keptUntil) = (digest, keptUntil)
    }
}
