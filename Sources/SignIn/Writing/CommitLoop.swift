import AppleAccounts
import ServiceLifecycle
import Synchronization

/// Calls a function a moment later, when what had arrived by then has been handled.
///
/// It must call it once, on any thread.
public typealias CommitDelay = @Sendable (_ then: @escaping @Sendable () -> Void) -> Void

/// The engine of `GroupCommit` and `GrantCommit`: the result of a command is returned when it is durable, and
/// commands that arrive during a transaction are committed together in the next one. With a delay it waits
/// for commands that are likely to arrive at once (`CommitQueue`). Commands that come alone wait for no others.
///
/// An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
///
/// It is generic, and of this module only, so that the compiler makes one of its own for each target:
/// sign-ins pay nothing for what it has in common with grants.
final class CommitLoop<Target: CommitTarget>: Sendable {
    typealias Command = Target.Command
    typealias Completion = @Sendable (Result<Target.Outcome, any Error>) -> Void

    private let target: Target
    private let feed: EventFeed
    private let delay: CommitDelay?
    private let queue: Mutex<CommitQueue<Command, Completion>>
    private let drainWaiters = Mutex<[CheckedContinuation<Void, Never>]>([])
    private let metrics: CommitMetrics
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - capacity: How many commands may wait. Above it they are refused.
    ///   - largestBatch: How many commands go into one transaction, which bounds how long it takes.
    ///   - delay: `nil` to wait for no commands.
    ///   - metrics: Of this queue.
    init(
        _ target: Target, feed: EventFeed, capacity: Int, largestBatch: Int, delay: CommitDelay?,
        metrics: CommitMetrics, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        precondition(capacity > 0 && largestBatch > 0, "the capacity and the largest batch must be above 0")
        (self.target, self.feed, self.delay, self.metrics, self.now) = (target, feed, delay, metrics, now)
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// How many commands wait, without those that are being committed.
    var depth: Int { queue.withLock { $0.depth } }

    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    func requireCapacity() throws {
        switch queue.withLock({ $0.capacity(at: now()) }) {
        case .available: break
        case .exhausted: throw OverloadedError()
        case .stalled: throw StorageError(.busy, detail: "the transaction under way does not come back")
        }
    }

    /// Returns when the command is durable.
    func submit(_ command: Command) async throws -> Target.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            submit(CollectionOfOne(command)) { ($0, { continuation.resume(with: $0) }) }
        }
    }

    /// Accepts several. None is committed before all are accepted, so that they share a transaction.
    ///
    /// - Parameter read: The command of an entry, and what is called with its outcome.
    func submit<Entries: Collection>(
        _ entries: Entries, _ read: (Entries.Element) -> (Command, Completion)
    ) {
        let (accepted, isFirst, endsGathering) = queue.withLock { queue in
            var (accepted, isFirst) = (0, false)
            accepting: for entry in entries {
                let (command, completion) = read(entry)
                switch queue.accept(command, completion) {
                case .startCommitting: isFirst = true
                case .wait: break
                case .refuse: break accepting
                }
                accepted += 1
            }
            return (accepted, isFirst, accepted > 0 && queue.endsGathering(at: now()))
        }
        for refused in entries.dropFirst(accepted) { read(refused).1(.failure(OverloadedError())) }
        if isFirst || endsGathering { commitNext(gathers: !endsGathering) }
    }

    /// Accepts nothing more, and returns when every accepted command has its result.
    func drain() async {
        queue.withLock { $0.close() }
        await withCheckedContinuation { waiter in
            drainWaiters.withLock { $0.append(waiter) }
            if queue.withLock({ $0.isIdle }) { releaseDrainWaiters() }
        }
    }

    /// Drains at shutdown.
    func run() async {
        try? await gracefulShutdown()
        await drain()
    }

    /// The first caller starts a transaction. After that each transaction starts the next one, on the store's
    /// own thread. Either may do so behind a delay, on the thread of that.
    private func commitNext(look: Int? = nil, gathers: Bool = true) {
        switch queue.withLock({ $0.next(look: look, gathers: gathers && delay != nil, at: now()) }) {
        case .stop: releaseDrainWaiters()
        case .look(let turn): delay? { self.commitNext(look: turn) }
        case .commit(let batch):
            let began = now()
            target.commit(batch.commands) { result in
                self.answer(batch.tickets, with: result, after: self.now() - began)
                self.commitNext()
            }
        }
    }

    private func answer(
        _ tickets: [Completion], with result: Result<Target.Batch, any Error>, after time: Duration
    ) {
        switch result {
        case .success(let batch):
            // The feed comes first, so that a caller which has its result and then reads events finds them.
            if let sequence = batch.lastEventSequence { feed.advance(to: sequence) }
            let count = batch.count
            for (index, ticket) in tickets.enumerated() {
                guard index < count else {
                    ticket(.failure(StorageError(.unavailable, detail: "the store gave no result")))
                    continue
                }
                ticket(batch.outcome(at: index))
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
