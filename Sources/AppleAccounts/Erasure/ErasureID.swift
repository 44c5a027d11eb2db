/// The name of an erasure: "era_" and a UUID of version 7.
public struct ErasureID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads what `rawValue` writes.
    public init?(_ text: String) {
        guard text.hasPrefix("era_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "era_") }
}
