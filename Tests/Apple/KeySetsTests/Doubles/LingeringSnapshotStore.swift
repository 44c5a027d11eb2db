import KeySets
import Synchronization

/// A store whose cancelled save ends late.
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
