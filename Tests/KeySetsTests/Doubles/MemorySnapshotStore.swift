import KeySets
import Synchronization

/// Keeps the snapshot in memory: what survives when a test throws a key set away and makes the next one.
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
