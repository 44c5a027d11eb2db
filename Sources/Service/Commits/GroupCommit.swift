// Commits owns the queues between callers and the transactions of the store, and the feed that wakes readers of
// account events. It knows no use case and no SQL, and the rules belong to the modules below.

public import AppleAccounts
public import AuthorizationServer
public import Metrics
public import ServiceLifecycle
public import Synchronization
import TraceExport
public import Tracing

/// Commits commands in groups: the result of a command is returned when it is durable, and commands that
/// arrive during a transaction are committed together in the next one. With a delay, the queue waits for
/// commands that are likely to arrive at once (`CommitQueue`). Commands that arrive alone do not wait.
///
/// Accounts and grants have a queue each, so that a flood at the token endpoint
/// never makes a sign-in wait for a place in a transaction. An accepted command
/// is carried out exactly once, even if its caller is cancelled.
///
/// The functions on the way of a command are inlinable, so that the compiler specializes them for each kind of
/// command in the modules that submit.
public final class GroupCommit<Command: BatchCommand>: Service, Sendable {
    /// Called once, on any thread, which it must not block.
    public typealias Completion = @Sendable (Result<Command.Outcome, any Error>) -> Void

    /// Commits commands in one transaction. Calls `completion` once, later, on any thread, when the transaction
    /// is durable.
    @usableFromInline
    typealias Transaction =
        @Sendable (
            _ commands: [Command],
            _ completion: @escaping @Sendable (Result<Command.Batch, any Error>) -> Void
        ) -> Void

    /// A command, and the function to call with its outcome.
    public struct Entry: Sendable {
        @usableFromInline let command: Command
        @usableFromInline let completion: Completion
        @usableFromInline let context: ServiceContext?

        /// - Parameter context: The span that waits; `nil` if nothing is recorded.
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
    ///   - capacity: Number of commands that may wait. Commands above it are refused.
    ///   - largestBatch: Largest number of commands in one transaction, which bounds its duration.
    ///   - delay: `nil` for no delay.
    ///   - metrics: Metrics of this queue.
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

    /// Number of commands that wait, without the commands that are being committed.
    public var depth: Int { queue.withLock { $0.depth } }

    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// Checks that the queue can take a command. Used for requests that can be retried, before any work for
    /// them. Commands submitted without this check are accepted while the queue has places.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    @inlinable
    public func requireCapacity() throws {
        switch queue.withLock({ $0.capacity(at: now()) }) {
        case .available: break
        case .exhausted: throw OverloadedError()
        case .stalled: throw StorageError(.busy, detail: "the transaction under way does not come back")
        }
    }

    /// Returns when the command is durable.
    ///
    /// - Throws: `AccountRefusal` or `GrantRefusal` by the rules; the code of a `GrantRefusal` shows the
    ///   changes made despite the refusal. `StorageError` from the database, and `OverloadedError` when the
    ///   command was not accepted: nothing was stored. Exception: after `unavailable` from a remote database
    ///   the outcome is unknown, if the connection was lost during the commit.
    @inlinable
    public func submit<Typed: TypedCommand>(
        _ command: Typed
    ) async throws -> Typed.Output where Typed.Command == Command {
        try Typed.requireOutput(try await submit(command.untyped))
    }

    /// Returns the outcome when the command is durable. Throws like `submit` of a typed command.
    @inlinable
    public func submit(_ command: Command) async throws -> Command.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            // Read only where spans are recorded.
            let context = spans == nil ? nil : ServiceContext.current
            enqueue(CollectionOfOne(Entry(command, context: context) { continuation.resume(with: $0) }))
        }
    }

    /// Accepts commands of callers that do not wait in a task. No command is committed before all are accepted,
    /// so that they share a transaction.
    @inlinable
    public func submit(_ entries: [Entry]) {
        enqueue(entries)
    }

    /// Closes the queue to new commands, and returns when every accepted command has its result.
    public func drain() async {
        queue.withLock { $0.close() }
        await withCheckedContinuation { waiter in
            drainWaiters.withLock { $0.append(waiter) }
            if queue.withLock({ $0.isIdle }) { releaseDrainWaiters() }
        }
    }

    /// Drains at shutdown. In a service group the queue comes before the server, which has stopped by then.
    public func run() async throws {
        try? await gracefulShutdown()
        await drain()
    }
}

// Path of a command: acceptance, transaction, return of its outcome to the caller.
extension GroupCommit {
    /// Accepts commands. The call that finds the queue idle starts a transaction.
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

    /// The first caller starts a transaction. After that each transaction starts the next one, on the thread
    /// of the store. Either start can follow a delay, on the thread of the delay.
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
            // The feed comes first, so that a caller which has its result and then reads events finds them.
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
        // Another batch may have begun since the end of the last batch. The waiters wait for it too.
        guard queue.withLock({ $0.isClosed && $0.isIdle }) else { return }
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension GroupCommit where Command == AccountCommand {
    /// Makes the queue of the accounts.
    ///
    /// - Parameters:
    ///   - capacity: Number of commands that may wait. Commands above it are refused.
    ///   - largestBatch: Largest number of commands in one transaction, which bounds its duration.
    ///   - delay: Waits a moment for commands that are likely to arrive at once. `nil` for no delay.
    ///   - tracer: Makes a span of each transaction in which a recorded span waits. `nil` without tracing.
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
    /// Makes the queue of the grants of OAuth. The parameters are like those of the queue of the accounts.
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

/// The command was not accepted: too many commands are waiting,
/// or the service is about to stop. The caller can retry.
public struct OverloadedError: Error, Sendable, Equatable {
    public init() {}
}

/// Calls a function a moment later, after requests that arrive until then have been handled.
///
/// The delay must call `then` once, on any thread.
public typealias CommitDelay = @Sendable (_ then: @escaping @Sendable () -> Void) -> Void
