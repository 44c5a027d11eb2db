/// Keeps one snapshot of the last good set, so that a restart during an outage works, and so that processes that share
/// a store share what one of them has fetched.
///
/// It is asked at the start and before each fetch. Neither call is on the path of a request whose key is at hand, nobody
/// waits for it longer than a bound, and a failure of either does no harm: it is counted in `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// `nil` when nothing was ever saved.
    func load() async throws -> KeySetSnapshot?
    /// Replaces what was saved before, whole.
    func save(_ snapshot: KeySetSnapshot) async throws
}
