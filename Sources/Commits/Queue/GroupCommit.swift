public import AppleAccounts
import Metrics
public import ServiceLifecycle

/// Commits changes of accounts in groups: the result of a command is returned when it is durable, and
/// commands that arrive during a transaction are committed together in the next one (`CommitLoop`).
///
/// An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
public final class GroupCommit: Service, Sendable {
    /// Called once with the outcome, on any thread. Must not block the thread.
    public typealias Completion = @Sendable (Result<AccountOutcome, any Error>) -> Void

    /// A command, and the function to call with its outcome.
    public struct Entry: Sendable {
        let command: AccountCommand
        let completion: Completion

        public init(_ command: AccountCommand, completion: @escaping Completion) {
            (self.command, self.completion) = (command, completion)
        }
    }

    private let loop: CommitLoop<AccountCommits>

    /// - Parameters:
    ///   - capacity: Number of commands that may wait. Commands above it are refused.
    ///   - largestBatch: Largest number of commands in one transaction, which bounds its duration.
    ///   - delay: Waits a moment for commands that are likely to arrive at once. `nil` for no delay.
    public convenience init(
        store: any AccountStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 512,
        delay: CommitDelay? = nil
    ) {
        self.init(
            store: store, feed: feed, capacity: capacity, largestBatch: largestBatch, delay: delay,
            factory: MetricsSystem.factory)
    }

    init(
        store: any AccountStore, feed: EventFeed, capacity: Int, largestBatch: Int,
        delay: CommitDelay? = nil, factory: any MetricsFactory,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        loop = CommitLoop(
            AccountCommits(store: store), feed: feed, capacity: capacity, largestBatch: largestBatch,
            delay: delay, metrics: CommitMetrics(prefix: "siwa_storage", factory: factory), now: now)
    }

    /// Number of commands that wait, without the commands that are being committed.
    public var depth: Int { loop.depth }

    /// Checks that the queue can take a command. For requests that can be retried, before any work is done
    /// for them. Commands that are submitted without this check are accepted while the queue has places.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    public func requireCapacity() throws {
        try loop.requireCapacity()
    }

    var isClosed: Bool { loop.isClosed }

    /// Returns when the command is durable.
    ///
    /// - Throws: `AccountRefusal` by the account rules, `StorageError` from the database, `OverloadedError`
    ///   when the command was not accepted. In each case nothing was stored. Exception: after `unavailable`
    ///   from a remote database the outcome is unknown, when the connection was lost during the commit.
    public func submit<Command: TypedCommand>(_ command: Command) async throws -> Command.Output {
        try await submit(PendingCommit(command) { $0 })
    }

    /// Returns the result of a use case when its command is durable. Throws like `submit` of a command.
    public func submit<Value>(_ pending: PendingCommit<Value>) async throws -> Value {
        try pending.result(try await loop.submit(pending.command))
    }

    /// Accepts commands of callers that do not wait in a task. None is committed before all are accepted, so
    /// that they share a transaction.
    public func submit(_ entries: [Entry]) {
        loop.submit(entries) { ($0.command, $0.completion) }
    }

    /// Closes the queue to new commands, and returns when every accepted command has its result.
    public func drain() async {
        await loop.drain()
    }

    /// Drains at shutdown. In a service group the queue comes before the server, which has stopped by then.
    public func run() async throws {
        await loop.run()
    }
}

private struct AccountCommits: CommitTarget {
    let store: any AccountStore

    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void
    ) {
        store.commit(commands, completion: completion)
    }
}

extension CommitResult: CommittedBatch {
    var count: Int { results.count }

    func outcome(at index: Int) -> Result<AccountOutcome, any Error> {
        switch results[index] {
        case .done(let outcome): .success(outcome)
        case .refused(let refusal): .failure(refusal)
        case .failed(let error): .failure(error)
        }
    }
}
