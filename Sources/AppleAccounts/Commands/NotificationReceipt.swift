/// What became of a notification. Apple gets the same answer for each.
public enum NotificationReceipt: String, Sendable, Hashable, CaseIterable {
    /// At least one event was new and of a known type.
    case applied
    /// Nothing in it was new.
    case duplicate
    /// It was kept, but this version knows none of its new events.
    case unknownType = "unknown_type"
}
