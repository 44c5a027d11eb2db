/// The nonce of a sign-in, as far as it is known without the database.
public enum SignInNonce: Sendable, Hashable {
    /// Made by this service, which its MAC has shown.
    ///
    /// It is used up before `expiresAt`, and its digest is kept until `keptUntil`, when no token that carries
    /// it can be valid any more.
    case minted(NonceDigest, expiresAt: Moment, keptUntil: Moment)
    /// Has the prefix of ours and no valid MAC: minted by an earlier version, which stored what it minted, or
    /// invented.
    case unproven(NonceDigest)
    /// Only the token has it: the caller's own, or the digest of one of ours. If that is known as used, the
    /// sign-in is refused also when the caller posted no nonce: a stolen token must not pass after its nonce
    /// was used because its thief was silent.
    case carried(NonceDigest)

    public var digest: NonceDigest {
        switch self {
        case .minted(let digest, _, _), .unproven(let digest), .carried(let digest): digest
        }
    }
}
