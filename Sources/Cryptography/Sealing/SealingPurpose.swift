/// The purpose of a sealed value. Different purposes have independent keys, so that values that outsiders can
/// have sealed in any number reveal nothing about the keys of other values.
public struct SealingPurpose: Sendable, Hashable {
    /// Part of the key derivation, so it must never change.
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}
