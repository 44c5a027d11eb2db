/// What an endpoint answers instead of the truth.
public enum FaultBody: String, Sendable, CaseIterable {
    /// The right body after all, under the fault's status or headers.
    case genuine
    /// An error page, as has been seen at Apple.
    case html
    case empty
    /// The right answer, padded beyond 256 KiB, so that only a bound on the size refuses it.
    case oversized
    /// The right answer up to its middle.
    case malformed
    /// JSON, but not what was asked for.
    case unrelated
    /// A key set without keys. Only for `.keys`.
    case noKeys = "no_keys"
    /// A key set that has only keys of kinds that Apple does not sign with. Only for `.keys`.
    case unusableKeys = "unusable_keys"
}
