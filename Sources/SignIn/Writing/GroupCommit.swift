public import AppleAccounts
import Metrics
public import ServiceLifecycle
import Synchronization

/// Writes through: a command is answered when it is durable, and commands that arrive while a transaction is
/// being committed are committed together in the next. There is no timer: a lonely command waits for nobody.
///
/// A command that was accepted is carried out exactly once, also when its caller is cancelled meanwhile.
public final class GroupCommit: Service, Sendable {
    private typealias Ticket = CheckedContinuation<CommandResult, any Error>

    private let store: any AccountStore
    private let feed: EventFeed
    private let queue: Mutex<CommitQueue<Ticket>>
    private let drainWaiters = Mutex<[CheckedContinuation<Void, Never>]>([])
    private let metrics = CommitMetrics()

    /// - Parameters:
    ///   - capacity: How many commands may wait; past it they are refused.
    ///   - largestBatch: How many commands go into one transaction, which bounds how long it takes.
    public init(store: any AccountStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 512) {
        precondition(capacity > 0 && largestBatch > 0, "a queue without room")
        self.store = store
        self.feed = feed
        queue = Mutex(CommitQueue(capacity: capacity, largestBatch: largestBatch))
    }

    /// How many commands wait, those not counted that are being committed.
    var depth: Int { queue.withLock { $0.depth } }
    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// Returns when the command is durable.
    ///
    /// - Throws: `AccountRefusal` by the rules, `StorageError` from the database, `OverloadedError` when the
    ///   command was not accepted. Each means that nothing of it was stored.
    public func submit(_ command: AccountCommand) async throws -> AccountOutcome {
        let result: CommandResult = try await withCheckedThrowingContinuation { ticket in
            switch queue.withLock({ $0.accept(command, ticket) }) {
            case .startCommitting: startCommitting()
            case .wait: break
            case .refuse: ticket.resume(throwing: OverloadedError())
            }
        }
        switch result {
        case .done(let outcome): return outcome
        case .refused(let refusal): throw refusal
        case .failed(let error): throw error
        }
    }

    /// Accepts nothing more, and returns when everything that was accepted is answered.
    public func drain() async {
        queue.withLock { $0.close() }
        await withCheckedContinuation { waiter in
            drainWaiters.withLock { $0.append(waiter) }
            if queue.withLock({ $0.isIdle }) { releaseDrainWaiters() }
        }
    }

    /// Drains at shutdown. In a service group it stands before the server, which then has stopped already.
    public func run() async throws {
        try? await gracefulShutdown()
        await drain()
    }

    private func startCommitting() {
        // One caller must not cancel the commands of the others, so this is nobody's child.
        Task { await commitUntilIdle() }
    }

    private func commitUntilIdle() async {
        while let batch = queue.withLock({ $0.nextBatch() }) {
            let stopwatch = ContinuousClock.now
            do {
                let result = try await store.commit(batch.commands)
                // First the feed, so that whoever got an answer and then asks for events finds them.
                if let sequence = result.lastEventSequence { feed.advance(to: sequence) }
                for (index, ticket) in batch.tickets.enumerated() {
                    guard index < result.results.count else {
                        ticket.resume(
                            throwing: StorageError(.unavailable, detail: "the store gave no result"))
                        continue
                    }
                    ticket.resume(returning: result.results[index])
                }
                metrics.committed(batch.tickets.count, in: .now - stopwatch)
            } catch {
                for ticket in batch.tickets { ticket.resume(throwing: error) }
                metrics.failed(batch.tickets.count)
            }
        }
        releaseDrainWaiters()
    }

    private func releaseDrainWaiters() {
        let waiters = drainWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
