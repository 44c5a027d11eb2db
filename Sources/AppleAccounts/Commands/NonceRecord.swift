public import Cryptography

/// A nonce that an earlier version of this service minted and stored, to be used in at most one sign-in and
/// before it expires. No new ones are made.
public struct NonceRecord: Sendable, Hashable {
    /// Milliseconds for which a nonce is kept after its expiration: longer than an identity token lives (a
    /// day, and the leeway of its expiration), so that a used nonce is known for as long as its token would
    /// pass.
    public static let keptAfterExpiry: Int64 = 25 * 3_600_000

    public let digest: NonceDigest
    public let expiresAt: Moment
    public let isUsed: Bool

    public init(digest: NonceDigest, expiresAt: Moment, isUsed: Bool = false) {
        (self.digest, self.expiresAt, self.isUsed) = (digest, expiresAt, isUsed)
    }
}

/// A nonce that a sign-in has used up.
public struct UsedNonce: Sendable, Hashable {
    public let digest: NonceDigest
    /// Time after which no token that carries the nonce can be valid.
    public let keptUntil: Moment

    public init(digest: NonceDigest, keptUntil: Moment) {
        (self.digest, self.keptUntil) = (digest, keptUntil)
    }
}

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
