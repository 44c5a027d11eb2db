import AppleAccounts
import ServiceLifecycle
import Synchronization

/// Calls a function a moment later, after requests that arrive until then have been handled.
///
/// The delay must call `then` once, on any thread.
public typealias CommitDelay = @Sendable (_ then: @escaping @Sendable () -> Void) -> Void

/// The engine of `GroupCommit` and `GrantCommit`: the result of a command is returned when it is durable, and
/// commands that arrive during a transaction are committed together in the next one. With a delay the loop
/// waits for commands that are likely to arrive at once (`CommitQueue`). Commands that come alone do not wait
/// for others.
///
/// An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
///
/// The type is generic and internal to this module, so that the compiler specialises it for each target:
/// sign-ins pay nothing for the code shared with OAuth grants.
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
    ///   - capacity: Number of commands that may wait. Commands above it are refused.
    ///   - largestBatch: Largest number of commands in one transaction, which bounds its duration.
    ///   - delay: `nil` to wait for no commands.
    ///   - metrics: Metrics of this queue.
    init(
        _ target: Target, feed: EventFeed, capacity: Int, largestBatch: Int, delay: CommitDelay?,
        metrics: CommitMetrics, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        precondition(capacity > 0 && largestBatch > 0, "the capacity and the largest batch must be above 0")
        (self.target, self.feed, self.delay, self.metrics, self.now) = (target, feed, delay, metrics, now)
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// Number of commands that wait, without the commands that are being committed.
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

    /// Accepts several commands. None is committed before all are accepted, so that they share a transaction.
    ///
    /// - Parameter read: Returns the command of an entry, and the function to call with its outcome.
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

    /// Closes the queue to new commands, and returns when every accepted command has its result.
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
    /// own thread. Either start may be delayed, and then runs on the thread of the delay.
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
        // Another batch may have begun since the last one ended. The waiters wait for it too.
        guard queue.withLock({ $0.isClosed && $0.isIdle }) else { return }
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
