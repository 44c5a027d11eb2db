/// The body of a faulty response.
public enum FaultBody: String, Sendable, CaseIterable {
    /// The genuine body, with the fault's status or headers.
    case genuine
    /// An HTML error page, as Apple has sent.
    case html
    case empty
    /// The genuine body, padded to more than 256 KiB, so that only a size limit refuses it.
    case oversized
    /// The first half of the genuine body.
    case malformed
    /// JSON of another kind.
    case unrelated
    /// A key set without keys. Only for `.keys`.
    case noKeys = "no_keys"
    /// A key set with keys that Apple does not sign with. Only for `.keys`.
    case unusableKeys = "unusable_keys"
}
