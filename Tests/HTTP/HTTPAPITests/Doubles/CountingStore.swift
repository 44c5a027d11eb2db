import AppleAccounts
import StorageConformance
import Synchronization

/// A store that records the number of commands of each commit.
final class CountingStore: RelayingStore {
    let behind: any AccountStore = ReferenceStore()
    private let sizes = Mutex<[Int]>([])

    var batchSizes: [Int] { sizes.withLock { $0 } }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        sizes.withLock { $0.append(commands.count) }
        return try await behind.commit(commands)
    }
}
