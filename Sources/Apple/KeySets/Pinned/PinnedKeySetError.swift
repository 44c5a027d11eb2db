/// Refusal of a pinned key set. This is a configuration error, and the service should not start. Equality is
/// on `code`.
public typealias PinnedKeySetError = KeySetFailure<PinnedKeySetErrorCode>

public enum PinnedKeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "pinned key set refused"

    /// The file cannot be opened or read.
    case unreadable
    case empty
    /// More than 64 KiB.
    case tooLarge = "too_large"
    /// Not a JSON Web Key Set.
    case malformed
    /// No key in it can be used for verification.
    case noUsableKey = "no_usable_key"
}
