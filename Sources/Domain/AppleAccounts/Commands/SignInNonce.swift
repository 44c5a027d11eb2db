/// The nonce of a sign-in, classified without the database.
public enum SignInNonce: Sendable, Hashable {
    /// Minted by this service, as its MAC has shown.
    ///
    /// It is used up before `expiresAt`. Its digest is kept until `keptUntil`, after which no token that
    /// carries it can be valid.
    case minted(NonceDigest, expiresAt: Moment, keptUntil: Moment)
    /// Has the prefix of ours and no valid MAC: invented, or minted under another key.
    case unproven(NonceDigest)
    /// Present only in the token: the caller's own nonce, or the digest of one of ours. If it is known as
    /// used, the sign-in is refused even when the caller posted no nonce: otherwise a thief could replay a
    /// stolen token, after its nonce was used, by leaving the nonce out.
    case carried(NonceDigest)

    public var digest: NonceDigest {
        switch self {
        case .minted(let digest, _, _), .unproven(let digest), .carried(let digest): digest
        }
    }
}
