/// The order in which held notifications are released.
public enum ReleaseOrder: String, Sendable, CaseIterable {
    case inOrder = "in_order"
    /// The last event first, so that a receiver that relies on the order of arrival gets the wrong state.
    case reversed
    case shuffled
}
