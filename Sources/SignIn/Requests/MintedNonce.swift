public import AppleAccounts
import JOSE

/// A nonce for one sign-in.
public struct MintedNonce: Sendable, Hashable {
    /// Tells a nonce of ours, which must be used up, from one that the caller made and looks after.
    public static let prefix = "siwa-nonce-"

    /// The prefix and 256 random bits in base64url. The caller posts it with the token.
    public let nonce: String
    /// For native clients, which hand Apple the digest in lowercase hexadecimal.
    public let nonceSHA256: String
    public let expiresAt: Moment
    let digest: NonceDigest

    /// The digest of the minted nonce that a token's `nonce` claim may stand for, in any of the encodings
    /// that clients use.
    static func digest(carriedBy claim: String) -> NonceDigest? {
        if claim.utf8.starts(with: prefix.utf8) { return NonceDigest(SHA256Digest.hash(claim)) }
        switch claim.utf8.count {
        case 64: return Hexadecimal.decode(claim).flatMap { NonceDigest($0) }
        case 43: return Base64URL.decode(claim).flatMap { NonceDigest($0) }
        case 44 where claim.hasSuffix("="):
            let alphabet = claim.dropLast().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            return Base64URL.decode(String(alphabet)).flatMap { NonceDigest($0) }
        default: return nil
        }
    }

    init?(expiresAt: Moment) {
        let nonce = Self.prefix + Base64URL.encode(SecureRandom.bytes(count: 32))
        let hash = SHA256Digest.hash(nonce)
        guard let digest = NonceDigest(hash) else { return nil }
        self.nonce = nonce
        nonceSHA256 = Hexadecimal.encode(hash)
        self.expiresAt = expiresAt
        self.digest = digest
    }
}
