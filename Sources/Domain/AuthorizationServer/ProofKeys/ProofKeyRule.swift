/// The rule that decides if a client's authorization request must have a code challenge.
public enum ProofKeyRule: Sendable, Hashable {
    /// Google's requests have none yet.
    case optional
    case required
    /// A confidential client that cannot make a challenge may send a `nonce` instead (RFC 9700 §2.1.1): the
    /// ID token for a code repeats the nonce, so the client recognizes a code that was made for another
    /// session.
    case requiredWithoutNonce
}
