/// An entry of a key set that is not used, and the reason.
public struct SkippedKey: Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        /// Not an object, a member of the wrong JSON type, or a `key_ops` that names an operation twice.
        case malformed
        /// `kty` is not RSA.
        case otherType = "other_type"
        /// `use` is present and not `sig`.
        case otherUse = "other_use"
        /// `key_ops` is present and lacks `verify`.
        case otherOperations = "other_operations"
        /// `alg` is present and not `RS256`.
        case otherAlgorithm = "other_algorithm"
        /// `kid` is absent, empty or longer than 64 characters.
        case keyIDInvalid = "key_id_invalid"
        /// The modulus is even, or has fewer than 2048 or more than 4096 bits, or the exponent is not 65537.
        case unsafeNumbers = "unsafe_numbers"
        /// Another usable key of the set has the same `kid`.
        case ambiguous
    }

    public let keyID: String?
    public let reason: Reason
}
