import AppleAccounts
import StorageConformance
import Synchronization

/// A store in which an event happens just before a batch is committed, after the callers of its commands have
/// read.
final class MeddlingStore: RelayingStore {
    typealias Event = @Sendable (any AccountStore) async throws -> Void

    let behind: any AccountStore
    private let next: Mutex<[Event]>

    /// - Parameter events: Events, each before one of the first batches with an erasure.
    init(_ behind: any AccountStore, before events: [Event]) {
        self.behind = behind
        next = Mutex(events)
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        let isErasure = commands.contains { if case .erase = $0 { true } else { false } }
        let event = next.withLock { isErasure && !$0.isEmpty ? $0.removeFirst() : nil }
        try await event?(behind)
        return try await behind.commit(commands)
    }
}
