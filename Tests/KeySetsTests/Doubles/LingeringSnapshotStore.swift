import KeySets
import Synchronization

/// Takes its time to end a save that is cancelled.
final class LingeringSnapshotStore: KeySetSnapshotStore {
    let gate = Gate()
    let hasEnded = Mutex(false)

    func load() async throws -> KeySetSnapshot? { nil }

    func save(_ snapshot: KeySetSnapshot) async throws {
        try? await gate.pass()
        for _ in 0..<1000 { await Task.yield() }
        hasEnded.withLock { $0 = true }
    }
}
