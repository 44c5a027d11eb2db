import KeySets
import Synchronization

/// Stores the snapshot in memory, for tests that replace a key set with a new one.
final class MemorySnapshotStore: KeySetSnapshotStore {
    private let stored: Mutex<KeySetSnapshot?>

    init(_ snapshot: KeySetSnapshot? = nil) {
        stored = Mutex(snapshot)
    }

    var snapshot: KeySetSnapshot? { stored.withLock { $0 } }

    func load() async throws -> KeySetSnapshot? { snapshot }

    func save(_ snapshot: KeySetSnapshot) async throws {
        stored.withLock { $0 = snapshot }
    }
}
