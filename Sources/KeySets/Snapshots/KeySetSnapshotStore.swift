/// Keeps one snapshot of the last good set, so that a restart during an outage works.
///
/// Neither call is on the path of a request, and a failure of either does no harm: it is counted in
/// `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// `nil` when nothing was ever saved.
    func load() async throws -> KeySetSnapshot?
    /// Replaces what was saved before, whole.
    func save(_ snapshot: KeySetSnapshot) async throws
}
