/// A nonce that an earlier version of this service minted and stored, to be used in at most one sign-in and before it
/// expires. No new ones are made.
public struct NonceRecord: Sendable, Hashable {
    /// Milliseconds for which it is kept after its end: longer than an identity token lives (a day, and the leeway of its
    /// expiry), so that a token whose nonce was used is known for that as long as it would pass.
    public static let keptAfterExpiry: Int64 = 25 * 3_600_000

    public let digest: NonceDigest
    public let expiresAt: Moment
    public let isUsed: Bool

    public init(digest: NonceDigest, expiresAt: Moment, isUsed: Bool = false) {
        (self.digest, self.expiresAt, self.isUsed) = (digest, expiresAt, isUsed)
    }
}
