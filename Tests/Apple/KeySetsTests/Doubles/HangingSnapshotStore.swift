import KeySets

/// A store whose calls hang and ignore cancellation until its gate opens.
struct HangingSnapshotStore: KeySetSnapshotStore {
    let gate: Gate

    func load() async throws -> KeySetSnapshot? {
        // An unstructured task is not cancelled with its caller.
        await Task { try? await gate.pass() }.value
        return nil
    }

    func save(_ snapshot: KeySetSnapshot) async throws {}
}
