/// The name of an account event: "evt_" and a UUID of version 7. It stays the same however often the event is
/// told.
public struct EventID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads what `rawValue` writes.
    public init?(_ text: String) {
        guard text.hasPrefix("evt_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "evt_") }
}
