public import AppleAccounts
import Cryptography
import Encodings

/// A nonce for one sign-in.
public struct MintedNonce: Sendable, Hashable {
    /// Tells a nonce of ours, which must be used up, from one that the caller made and looks after.
    public static let prefix = "siwa-nonce-"

    /// The caller posts it with the token.
    public let nonce: String
    /// For native clients, which hand Apple the digest in lowercase hexadecimal.
    public let nonceSHA256: String
    public let expiresAt: Moment

    init(_ nonce: String, expiresAt: Moment) {
        self.nonce = nonce
        nonceSHA256 = Hexadecimal.encode(SHA256Digest.hash(nonce))
        self.expiresAt = expiresAt
    }
}
