import AppleAccounts
import Cryptography
import Encodings

extension SignInNonce {
    /// Classifies the posted nonce, or else the nonce in the token. `nil` for a text that cannot be ours.
    ///
    /// The digest of our nonce looks like the digest of a caller's own. So a token that carries a digest is
    /// bound to our nonce only if our nonce is posted, or was used before.
    /// - Parameter keptUntil: Moment at which the token has expired by the clock of every replica.
    init?(posted: String?, claim: String?, mint: NonceMint, keptUntil: Moment) {
        let isPosted = posted.map { Self.hasOurForm($0) } ?? false
        guard let text = isPosted ? posted : claim else { return nil }
        guard Self.hasOurForm(text) else {
            guard let digest = Self.digest(inClaim: text) else { return nil }
            self = .carried(digest)
            return
        }
        guard let digest = NonceDigest(SHA256Digest.hash(text).bytes) else { return nil }
        if let expiresAt = mint.expiry(of: text) {
            self = .minted(digest, expiresAt: expiresAt, keptUntil: keptUntil)
        } else {
            self = isPosted ? .unproven(digest) : .carried(digest)
        }
    }

    private static func hasOurForm(_ text: String) -> Bool {
        text.utf8.starts(with: MintedNonce.prefix.utf8)
    }

    /// Reads a digest in any of the encodings that clients use.
    private static func digest(inClaim claim: String) -> NonceDigest? {
        switch claim.utf8.count {
        case 64: return Hexadecimal.decode(claim).flatMap { NonceDigest($0) }
        case 43: return Base64URL.decode(claim).flatMap { NonceDigest($0) }
        case 44 where claim.hasSuffix("="):
            let alphabet = claim.dropLast().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            return Base64URL.decode(String(alphabet)).flatMap { NonceDigest($0) }
        default: return nil
        }
    }
}
