import KeySets

/// A store whose save waits for a gate.
struct GatedSnapshotStore: KeySetSnapshotStore {
    let gate: Gate

    func load() async throws -> KeySetSnapshot? { nil }

    func save(_ snapshot: KeySetSnapshot) async throws { try await gate.pass() }
}
