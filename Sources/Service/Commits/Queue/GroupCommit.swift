// Commits owns the queues between callers and the transactions of the store, and the feed that wakes readers of
// account events. It knows no use case and no SQL, and the rules belong to the modules below.

public import AppleAccounts
public import ServiceLifecycle
public import Synchronization
public import Tracing

/// Commits commands in groups: the result of a command is returned when it is durable, and commands that arrive
/// during a transaction are committed together in the next one. With a delay it waits for commands that are
/// likely to arrive at once (`CommitQueue`). Commands that come alone wait for no others.
///
/// Accounts and grants have a queue each, so that a flood at the token endpoint never makes a sign-in wait for
/// a place in a transaction. An accepted command is carried out exactly once, even when its caller is cancelled
/// meanwhile.
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

    /// A command, and the function that is called with its outcome.
    public struct Entry: Sendable {
        @usableFromInline let command: Command
        @usableFromInline let ticket: Ticket

        /// - Parameter context: The span that waits; `nil` where nothing is recorded.
        @inlinable
        public init(
            _ command: Command, context: ServiceContext? = nil, completion: @escaping Completion
        ) {
            self.command = command
            ticket = Ticket(completion: completion, context: context)
        }
    }

    /// The caller of a command.
    @usableFromInline
    struct Ticket: Sendable {
        @usableFromInline let completion: Completion
        @usableFromInline let context: ServiceContext?

        @inlinable
        init(completion: @escaping Completion, context: ServiceContext?) {
            (self.completion, self.context) = (completion, context)
        }
    }

    @usableFromInline let transaction: Transaction
    @usableFromInline let feed: EventFeed
    @usableFromInline let delay: CommitDelay?
    @usableFromInline let queue: Mutex<CommitQueue<Command, Ticket>>
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

    /// Checks that the queue can take a command. For requests that can be retried, before any work is done for
    /// them. Commands that are submitted anyway are accepted while the queue has places.
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
    /// - Throws: `AccountRefusal` or `GrantRefusal` by the rules; the code of a `GrantRefusal` says what was
    ///   changed despite the refusal. `StorageError` from the database, and `OverloadedError` when the command
    ///   was not accepted: nothing was stored. Exception: after `unavailable` from a remote database the
    ///   outcome is unknown, if the connection was lost during the commit.
    @inlinable
    public func submit<Typed: TypedCommand>(
        _ command: Typed
    ) async throws -> Typed.Output where Typed.Command == Command {
        try Typed.requireOutput(try await submit(command.untyped))
    }

    /// Returns the result of a use case when its command is durable. Throws like `submit` of a command.
    @inlinable
    public func submit<Value>(
        _ pending: PendingCommit<Value>
    ) async throws -> Value where Command == AccountCommand {
        let outcome: Result<AccountOutcome, any Error>
        do {
            outcome = .success(try await submit(pending.command))
        } catch {
            outcome = .failure(error)
        }
        return try pending.result(outcome)
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
