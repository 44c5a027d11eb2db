import KeySets

/// Never answers, and hears no cancellation until its gate opens.
struct HangingSnapshotStore: KeySetSnapshotStore {
    let gate: Gate

    func load() async throws -> KeySetSnapshot? {
        // A task of its own does not hear of the caller's cancellation.
        await Task { try? await gate.pass() }.value
        return nil
    }

    func save(_ snapshot: KeySetSnapshot) async throws {}
}
