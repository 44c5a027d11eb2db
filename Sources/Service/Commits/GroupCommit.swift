// Commits owns the queues between callers and the store's transactions, and the feed that wakes readers of
// account events. It depends on no use case and no SQL, and contains no rules about accounts or grants.

public import AppleAccounts
public import AuthorizationServer
public import Metrics
public import ServiceLifecycle
public import Synchronization
import TraceExport
public import Tracing

/// Commits commands in groups. A caller receives the result of its command when the command is durable, and
/// commands that arrive during a transaction are committed together in the next transaction. With a delay,
/// the queue also waits for commands that will probably arrive immediately (`CommitQueue`). Commands that
/// arrive alone do not wait.
///
/// Accounts and grants have separate queues, so that a flood at the token endpoint does not delay sign-ins.
/// An accepted command is performed exactly once, even if its caller is cancelled.
///
/// The functions that handle a command are inlinable, so that the compiler specializes them for each command
/// type in the modules that submit commands.
public final class GroupCommit<Command: BatchCommand>: Service, Sendable {
    /// Called once on any thread. It must not block the thread.
    public typealias Completion = @Sendable (Result<Command.Outcome, any Error>) -> Void

    /// Commits commands in one transaction. Calls `completion` once, later and on any thread, when the
    /// transaction is durable.
    @usableFromInline
    typealias Transaction =
        @Sendable (
            _ commands: [Command],
            _ completion: @escaping @Sendable (Result<Command.Batch, any Error>) -> Void
        ) -> Void

    /// A command, and a function that receives its outcome.
    public struct Entry: Sendable {
        @usableFromInline let command: Command
        @usableFromInline let completion: Completion
        @usableFromInline let context: ServiceContext?

        /// - Parameter context: The caller's tracing context; `nil` if its request is not recorded.
        @inlinable
        public init(
            _ command: Command, context: ServiceContext? = nil, completion: @escaping Completion
        ) {
            (self.command, self.context, self.completion) = (command, context, completion)
        }
    }

    @usableFromInline let transaction: Transaction
    @usableFromInline let feed: EventFeed
    @usableFromInline let delay: CommitDelay?
    @usableFromInline let queue: Mutex<CommitQueue<Entry>>
    @usableFromInline let metrics: CommitMetrics
    @usableFromInline let spans: CommitSpans?
    @usableFromInline let now: @Sendable () -> ContinuousClock.Instant
    let drainWaiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// - Parameters:
    ///   - capacity: Maximum number of waiting commands. The queue refuses further commands.
    ///   - largestBatch: Maximum number of commands in a transaction, which bounds its duration.
    ///   - delay: The short delay in which more commands can arrive; `nil` for no delay.
    ///   - metrics: The queue's metrics.
    init(
        feed: EventFeed, capacity: Int, largestBatch: Int, delay: CommitDelay?, metrics: CommitMetrics,
        spans: CommitSpans?, now: @escaping @Sendable () -> ContinuousClock.Instant,
        transaction: @escaping Transaction
    ) {
        precondition(capacity > 0 && largestBatch > 0, "the capacity and the largest batch must be above 0")
        self.transaction = transaction
        (self.feed, self.delay, self.metrics, self.now) = (feed, delay, metrics, now)
        self.spans = spans
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// Number of waiting commands, not counting the commands in the current transaction.
    public var depth: Int { queue.withLock { $0.depth } }

    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// Checks that the queue has capacity for a command. Requests that can be retried call this function
    /// before doing any other work. Other commands are accepted as long as the queue has room.
    ///
    /// - Throws: `OverloadedError`; `StorageError` if the database does not respond.
    @inlinable
    public func requireCapacity() throws {
        switch queue.withLock({ $0.capacity(at: now()) }) {
        case .available: break
        case .exhausted: throw OverloadedError()
        case .stalled: throw StorageError(.busy, detail: "the transaction under way does not come back")
        }
    }

    /// Submits a command, and returns when the command is durable.
    ///
    /// - Throws: `AccountRefusal` or `GrantRefusal` if the rules refuse the command; the code of a
    ///   `GrantRefusal` shows which changes were made anyway. `StorageError` from the database.
    ///   `OverloadedError` if the queue did not accept the command. After an error nothing was stored, with
    ///   one exception: after `unavailable` from a remote database the outcome is unknown, because the
    ///   connection may have been lost during the commit.
    @inlinable
    public func submit<Typed: TypedCommand>(
        _ command: Typed
    ) async throws -> Typed.Output where Typed.Command == Command {
        try Typed.requireOutput(try await submit(command.untyped))
    }

    /// Submits a command, and returns its outcome when the command is durable. Throws the same errors as
    /// `submit` with a typed command.
    @inlinable
    public func submit(_ command: Command) async throws -> Command.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            // The context is needed only if spans are recorded.
            let context = spans == nil ? nil : ServiceContext.current
            enqueue(CollectionOfOne(Entry(command, context: context) { continuation.resume(with: $0) }))
        }
    }

    /// Accepts commands from callers that do not wait in a task. All commands are accepted before a commit
    /// begins, so they share a transaction.
    @inlinable
    public func submit(_ entries: [Entry]) {
        enqueue(entries)
    }

    /// Closes the queue to new commands, and returns when all accepted commands have their results.
    public func drain() async {
        queue.withLock { $0.close() }
        await withCheckedContinuation { waiter in
            drainWaiters.withLock { $0.append(waiter) }
            if queue.withLock({ $0.isIdle }) { releaseDrainWaiters() }
        }
    }

    /// Drains the queue on shutdown. A service group lists the queue before the server, so the server stops
    /// first.
    public func run() async throws {
        try? await gracefulShutdown()
        await drain()
    }
}

// The path of a command: the queue accepts it, a transaction commits it, and its caller gets the outcome.
extension GroupCommit {
    /// Accepts commands. A call that finds the queue idle starts a transaction.
    @inlinable
    func enqueue<Entries: Collection<Entry>>(_ entries: Entries) {
        let (accepted, isFirst, endsGathering) = queue.withLock { queue in
            var (accepted, isFirst) = (0, false)
            accepting: for entry in entries {
                switch queue.accept(entry) {
                case .startCommitting: isFirst = true
                case .wait: break
                case .refuse: break accepting
                }
                accepted += 1
            }
            return (accepted, isFirst, accepted > 0 && queue.endsGathering(at: now()))
        }
        for refused in entries.dropFirst(accepted) { refused.completion(.failure(OverloadedError())) }
        if isFirst || endsGathering { startNextTransaction(gathers: !endsGathering) }
    }

    /// Starts the next transaction. A caller starts the first transaction, and each transaction then starts
    /// the next on the store's thread. After a delay, the next transaction starts on the delay's thread.
    @inlinable
    func startNextTransaction(look: Int? = nil, gathers: Bool = true) {
        switch queue.withLock({ $0.next(look: look, gathers: gathers && delay != nil, at: now()) }) {
        case .stop: releaseDrainWaiters()
        case .look(let turn): delay? { self.startNextTransaction(look: turn) }
        case .commit(let batch):
            let began = now()
            let span = spans?.begin(batch.lazy.map(\.context))
            transaction(batch.map(\.command)) { result in
                if let span { CommitSpans.end(span, result) }
                self.complete(batch, with: result, after: self.now() - began)
                self.startNextTransaction()
            }
        }
    }

    @inlinable
    func complete(
        _ entries: [Entry], with result: Result<Command.Batch, any Error>, after time: Duration
    ) {
        switch result {
        case .success(let batch):
            // The feed advances first, so that callers find their events in the feed once they have their
            // results.
            if let sequence = batch.lastEventSequence { feed.advance(to: sequence) }
            let results = batch.results
            for (index, entry) in entries.enumerated() {
                guard index < results.count else {
                    entry.completion(
                        .failure(StorageError(.unavailable, detail: "the store gave no result")))
                    continue
                }
                entry.completion(Command.Batch.outcome(results[index]))
            }
            metrics.committed(entries.count, in: time)
        case .failure(let error):
            for entry in entries { entry.completion(.failure(error)) }
            metrics.failed(entries.count)
        }
    }

    @usableFromInline
    func releaseDrainWaiters() {
        // Another batch may have begun since the last batch ended, and the waiters must wait for it too.
        guard queue.withLock({ $0.isClosed && $0.isIdle }) else { return }
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension GroupCommit where Command == AccountCommand {
    /// Creates the commit queue for accounts.
    ///
    /// - Parameters:
    ///   - capacity: Maximum number of waiting commands. The queue refuses further commands.
    ///   - largestBatch: Maximum number of commands in a transaction, which bounds its duration.
    ///   - delay: The short delay in which more commands can arrive; `nil` for no delay.
    ///   - tracer: Records a span for each transaction that a recorded request waits for; `nil` if tracing is
    ///     off.
    public convenience init(
        store: any AccountStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 512,
        delay: CommitDelay? = nil, tracer: (any Tracer)? = nil,
        factory: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(
            feed: feed, capacity: capacity, largestBatch: largestBatch, delay: delay,
            metrics: CommitMetrics(prefix: "siwa_storage", factory: factory),
            spans: tracer.map { CommitSpans(.commitAccounts, $0) }, now: now
        ) { store.commit($0, completion: $1) }
    }
}

extension GroupCommit where Command == GrantCommand {
    /// Creates the commit queue for OAuth grants. Its parameters have the same meaning as the account queue's
    /// parameters.
    public convenience init(
        store: any AuthorizationStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 256,
        delay: CommitDelay? = nil, tracer: (any Tracer)? = nil,
        factory: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(
            feed: feed, capacity: capacity, largestBatch: largestBatch, delay: delay,
            metrics: CommitMetrics(prefix: "siwa_oauth", factory: factory),
            spans: tracer.map { CommitSpans(.commitGrants, $0) }, now: now
        ) { store.commit($0, completion: $1) }
    }
}

/// The queue did not accept the command, because too many commands are waiting or the service is about to
/// stop. The caller can retry.
public struct OverloadedError: Error, Sendable, Equatable {
    public init() {}
}

/// Calls a function after a short delay, so that requests that arrive in the meantime are handled first.
///
/// The delay must call `then` once, on any thread.
public typealias CommitDelay = @Sendable (_ then: @escaping @Sendable () -> Void) -> Void
