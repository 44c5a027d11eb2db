/// Whether the commit queue has room for a caller who can come again.
enum CommitRoom: Equatable, Sendable {
    case free
    /// So many wait that one more would wait too long.
    case full
    /// The transaction under way does not come back.
    case stuck
}
