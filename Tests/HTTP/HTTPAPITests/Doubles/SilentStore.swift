import AppleAccounts
import StorageConformance
import Synchronization

/// A store whose calls do not return until it is opened.
final class SilentStore: RelayingStore {
    let behind: any AccountStore = ReferenceStore()
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

    func open() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        await pass()
        return try await behind.commit(commands)
    }

    func checkHealth() async throws { await pass() }
}
