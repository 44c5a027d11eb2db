import AppleAccounts
public import AuthorizationServer
public import ServiceLifecycle
import Synchronization

/// Commits changes of OAuth grants in groups, as `GroupCommit` does with accounts: what arrives during a
/// transaction goes together into the next one.
///
/// A queue of its own, so that a flood at the token endpoint never makes a sign-in wait for a place in a
/// transaction. An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
public final class GrantCommit: Service, Sendable {
    private typealias Completion = @Sendable (Result<GrantOutcome, any Error>) -> Void

    private let store: any AuthorizationStore
    private let feed: EventFeed
    private let queue: Mutex<CommitQueue<GrantCommand, Completion>>
    private let drainWaiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// - Parameters:
    ///   - capacity: How many commands may wait. Above it they are refused.
    ///   - largestBatch: How many commands go into one transaction, which bounds how long it takes.
    public init(store: any AuthorizationStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 256)
    {
        precondition(capacity > 0 && largestBatch > 0, "the capacity and the largest batch must be above 0")
        self.store = store
        self.feed = feed
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// How many commands wait, without those that are being committed.
    public var depth: Int { queue.withLock { $0.depth } }

    /// For requests that can be retried, before any work is done for them.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    public func requireCapacity() throws {
        switch queue.withLock({ $0.capacity(at: .now) }) {
        case .available: break
        case .exhausted: throw OverloadedError()
        case .stalled: throw StorageError(.busy, detail: "the transaction under way does not come back")
        }
    }

    /// Returns when the command is durable.
    ///
    /// - Throws: `GrantRefusal` by the rules; its code says what was changed all the same. `StorageError` from
    ///   the database, and `OverloadedError` when the command was not accepted: then nothing of it was stored,
    ///   but that this is not known after `unavailable` of a database on another machine.
    public func submit(_ command: GrantCommand) async throws -> GrantOutcome {
        try await withCheckedThrowingContinuation { continuation in
            switch queue.withLock({ $0.accept(command) { continuation.resume(with: $0) } }) {
            case .startCommitting: commitNext()
            case .wait: break
            case .refuse: continuation.resume(throwing: OverloadedError())
            }
        }
    }

    /// Accepts nothing more, and returns when every accepted command has its result.
    public func drain() async {
        queue.withLock { $0.close() }
        await withCheckedContinuation { waiter in
            drainWaiters.withLock { $0.append(waiter) }
            if queue.withLock({ $0.isIdle }) { releaseDrainWaiters() }
        }
    }

    /// Drains at shutdown. In a service group it comes before the server, which then has stopped already.
    public func run() async throws {
        try? await gracefulShutdown()
        await drain()
    }

    /// The first caller starts a transaction. After that each transaction starts the next one, on the store's
    /// own thread.
    private func commitNext() {
        guard let batch = queue.withLock({ $0.nextBatch(at: .now) }) else { return releaseDrainWaiters() }
        store.commit(batch.commands) { result in
            self.answer(batch.tickets, with: result)
            self.commitNext()
        }
    }

    private func answer(_ tickets: [Completion], with result: Result<GrantCommitResult, any Error>) {
        switch result {
        case .success(let result):
            // The feed comes first, so that a caller which has its result and then reads events finds them.
            if let sequence = result.lastEventSequence { feed.advance(to: sequence) }
            for (index, ticket) in tickets.enumerated() {
                guard index < result.results.count else {
                    ticket(.failure(StorageError(.unavailable, detail: "the store gave no result")))
                    continue
                }
                ticket(result.results[index])
            }
        case .failure(let error):
            for ticket in tickets { ticket(.failure(error)) }
        }
    }

    private func releaseDrainWaiters() {
        // Another batch may have begun since the last one ended. The waiters wait for that one too.
        guard queue.withLock({ $0.isClosed && $0.isIdle }) else { return }
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
