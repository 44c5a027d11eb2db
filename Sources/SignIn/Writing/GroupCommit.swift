public import AppleAccounts
import Metrics
public import ServiceLifecycle
import Synchronization

/// Commits in groups: the result of a command is returned when it is durable, and commands that arrive during
/// a transaction are committed together in the next one. There is no timer, so a single command waits for no
/// others.
///
/// An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
public final class GroupCommit: Service, Sendable {
    /// Called once, on any thread, which it must not block.
    public typealias Completion = @Sendable (Result<AccountOutcome, any Error>) -> Void

    /// A command, and what is called with its outcome.
    public struct Entry: Sendable {
        let command: AccountCommand
        let completion: Completion

        public init(_ command: AccountCommand, completion: @escaping Completion) {
            (self.command, self.completion) = (command, completion)
        }
    }

    private let store: any AccountStore
    private let feed: EventFeed
    private let queue: Mutex<CommitQueue<AccountCommand, Completion>>
    private let drainWaiters = Mutex<[CheckedContinuation<Void, Never>]>([])
    private let metrics = CommitMetrics()

    /// - Parameters:
    ///   - capacity: How many commands may wait. Above it they are refused.
    ///   - largestBatch: How many commands go into one transaction, which bounds how long it takes.
    public init(store: any AccountStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 512) {
        precondition(capacity > 0 && largestBatch > 0, "the capacity and the largest batch must be above 0")
        self.store = store
        self.feed = feed
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// How many commands wait, without those that are being committed.
    public var depth: Int { queue.withLock { $0.depth } }

    /// For requests that can be retried, before any work is done for them. Commands that are submitted anyway
    /// are accepted while the queue has places.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    public func requireCapacity() throws {
        switch queue.withLock({ $0.capacity(at: .now) }) {
        case .available: break
        case .exhausted: throw OverloadedError()
        case .stalled: throw StorageError(.busy, detail: "the transaction under way does not come back")
        }
    }

    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// Returns when the command is durable.
    ///
    /// - Throws: `AccountRefusal` by the account rules, `StorageError` from the database, `OverloadedError`
    ///   when the command was not accepted. In each case nothing of it was stored, with one exception: after
    ///   `unavailable` of a database on another machine it is not known, when the connection was lost during
    ///   the commit.
    public func submit<Command: TypedCommand>(_ command: Command) async throws -> Command.Output {
        try await submit(PendingCommit(command) { $0 })
    }

    /// Returns the result of a use case when its command is durable. Throws like `submit` of a command.
    public func submit<Value>(_ pending: PendingCommit<Value>) async throws -> Value {
        let outcome = try await withCheckedThrowingContinuation { continuation in
            submit([Entry(pending.command) { continuation.resume(with: $0) }])
        }
        return try pending.result(outcome)
    }

    /// Accepts commands of callers that do not wait in a task. None is committed before all are accepted, so
    /// that they share a transaction.
    public func submit(_ entries: [Entry]) {
        let (accepted, isFirst) = queue.withLock { queue in
            var isFirst = false
            for (index, entry) in entries.enumerated() {
                switch queue.accept(entry.command, entry.completion) {
                case .startCommitting: isFirst = true
                case .wait: break
                case .refuse: return (index, isFirst)
                }
            }
            return (entries.count, isFirst)
        }
        for refused in entries[accepted...] { refused.completion(.failure(OverloadedError())) }
        if isFirst { commitNext() }
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
        let stopwatch = ContinuousClock.now
        store.commit(batch.commands) { result in
            self.answer(batch.tickets, with: result, after: .now - stopwatch)
            self.commitNext()
        }
    }

    private func answer(
        _ tickets: [Completion], with result: Result<CommitResult, any Error>, after time: Duration
    ) {
        switch result {
        case .success(let result):
            // The feed comes first, so that a caller which has its result and then reads events finds them.
            if let sequence = result.lastEventSequence { feed.advance(to: sequence) }
            for (index, ticket) in tickets.enumerated() {
                guard index < result.results.count else {
                    ticket(.failure(StorageError(.unavailable, detail: "the store gave no result")))
                    continue
                }
                switch result.results[index] {
                case .done(let outcome): ticket(.success(outcome))
                case .refused(let refusal): ticket(.failure(refusal))
                case .failed(let error): ticket(.failure(error))
                }
            }
            metrics.committed(tickets.count, in: time)
        case .failure(let error):
            for ticket in tickets { ticket(.failure(error)) }
            metrics.failed(tickets.count)
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
