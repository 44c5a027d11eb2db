/// A nonce that a sign-in has used up.
public struct UsedNonce: Sendable, Hashable {
    public let digest: NonceDigest
    /// Time after which no token that carries the nonce can be valid.
    public let keptUntil: Moment

    public init(digest: NonceDigest, keptUntil: Moment) {
        (self.digest, self.keptUntil) = (digest, keptUntil)
    }
}
