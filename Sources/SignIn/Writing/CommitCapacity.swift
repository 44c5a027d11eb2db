/// Whether the commit queue accepts a command whose caller can retry.
enum CommitCapacity: Equatable, Sendable {
    case available
    /// So many commands wait that one more would wait too long.
    case exhausted
    /// The current transaction does not return.
    case stalled
}
