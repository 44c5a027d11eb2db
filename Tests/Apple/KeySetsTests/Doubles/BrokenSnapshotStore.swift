import KeySets

/// A store whose calls all fail.
struct BrokenSnapshotStore: KeySetSnapshotStore {
    func load() async throws -> KeySetSnapshot? { throw TestFailure("disk full") }

    func save(_ snapshot: KeySetSnapshot) async throws { throw TestFailure("disk full") }
}
