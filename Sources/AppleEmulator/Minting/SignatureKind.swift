/// How a token is signed.
public enum SignatureKind: String, Sendable, CaseIterable {
    case valid
    /// A valid signature with one bit inverted.
    case tampered
    /// The valid signature of the original claims, with the forged claims.
    case otherClaims = "other_claims"
    /// A valid signature by a published key other than the one in the header.
    case otherKey = "other_key"
    /// A signature by a key that was never published, with the ID of a published key.
    case wrongKey = "wrong_key"
    /// Nothing after the last dot.
    case missing
}
