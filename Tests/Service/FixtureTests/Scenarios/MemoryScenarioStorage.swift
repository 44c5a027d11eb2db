import AppleAccounts
import KeySets
import StorageConformance
import Synchronization

/// The reference store. It exists for the whole scenario, as a database would.
struct MemoryScenarioStorage: ScenarioStorage {
    private let accounts = ReferenceStore()
    private let snapshots = MemorySnapshotStore()

    func open() -> (accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore) {
        (accounts, snapshots)
    }

    func close() {}
}

private final class MemorySnapshotStore: KeySetSnapshotStore {
    private let snapshot = Mutex<KeySetSnapshot?>(nil)

    func load() -> KeySetSnapshot? { snapshot.withLock { $0 } }

    func save(_ snapshot: KeySetSnapshot) { self.snapshot.withLock { $0 = snapshot } }
}
