/// Stores one snapshot of the last good set, so that a restart during an outage of Apple works, and so that
/// processes with a common store share one fetch.
///
/// It is read at the start and before each fetch, never during a request whose key is cached. The wait for it
/// is limited, and a failure of either call only counts in `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// Returns `nil` when no snapshot was saved.
    func load() async throws -> KeySetSnapshot?
    /// Replaces the saved snapshot.
    func save(_ snapshot: KeySetSnapshot) async throws
}
