/// Who signs a token, and what becomes of the signature.
public enum SignatureKind: String, Sendable, CaseIterable {
    case valid
    /// One bit of a valid signature is turned over.
    case tampered
    /// A valid signature of the honest claims, under the forged ones.
    case otherClaims = "other_claims"
    /// A valid signature by another published key than the header names.
    case otherKey = "other_key"
    /// A signature by a key that was never Apple's, under one of Apple's key IDs.
    case wrongKey = "wrong_key"
    /// Nothing behind the last dot.
    case missing
}
