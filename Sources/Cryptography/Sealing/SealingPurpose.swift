/// What a sealed value is good for. Values of two purposes are sealed by keys that have nothing in common, so that those
/// which outsiders can have made, without end, tell nothing about the key of the others.
public struct SealingPurpose: Sendable, Hashable {
    /// Part of what a value was sealed with: it never changes.
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}
