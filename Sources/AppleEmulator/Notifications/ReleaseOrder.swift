/// In which order notifications that were kept back are posted.
public enum ReleaseOrder: String, Sendable, CaseIterable {
    case inOrder = "in_order"
    /// The last event first, so that a receiver which believes the order of arrival ends in the wrong state.
    case reversed
    case shuffled
}
