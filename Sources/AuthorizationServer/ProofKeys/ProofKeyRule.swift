/// When an authorization request of a client must have a code challenge.
public enum ProofKeyRule: Sendable, Hashable {
    /// Google's requests have none yet.
    case optional
    case required
    /// A confidential client that cannot make a challenge may send a `nonce` in place of one (RFC 9700
    /// §2.1.1): the ID token that comes of a code repeats the nonce, so the client recognizes a code that
    /// was made for another session.
    case requiredWithoutNonce
}
