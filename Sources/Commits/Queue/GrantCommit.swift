import AppleAccounts
public import AuthorizationServer
import Metrics
public import ServiceLifecycle

/// Commits changes of OAuth grants in groups, as `GroupCommit` does with accounts: commands that arrive
/// during a transaction are committed together in the next one (`CommitLoop`).
///
/// The queue is separate, so that a flood at the token endpoint never makes a sign-in wait for a place in a
/// transaction. An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
public final class GrantCommit: Service, Sendable {
    private let loop: CommitLoop<GrantCommits>

    /// - Parameters:
    ///   - capacity: Number of commands that may wait. Commands above it are refused.
    ///   - largestBatch: Largest number of commands in one transaction, which bounds its duration.
    ///   - delay: Waits a moment for commands that are likely to arrive at once. `nil` for no delay.
    public convenience init(
        store: any AuthorizationStore, feed: EventFeed, capacity: Int = 4096, largestBatch: Int = 256,
        delay: CommitDelay? = nil
    ) {
        self.init(
            store: store, feed: feed, capacity: capacity, largestBatch: largestBatch, delay: delay,
            factory: MetricsSystem.factory)
    }

    init(
        store: any AuthorizationStore, feed: EventFeed, capacity: Int, largestBatch: Int,
        delay: CommitDelay? = nil, factory: any MetricsFactory,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        loop = CommitLoop(
            GrantCommits(store: store), feed: feed, capacity: capacity, largestBatch: largestBatch,
            delay: delay, metrics: CommitMetrics(prefix: "siwa_oauth", factory: factory), now: now)
    }

    /// Number of commands that wait, without the commands that are being committed.
    public var depth: Int { loop.depth }

    /// Checks that the queue can take a command. For requests that can be retried, before any work is done
    /// for them.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    public func requireCapacity() throws {
        try loop.requireCapacity()
    }

    var isClosed: Bool { loop.isClosed }

    /// Returns when the command is durable.
    ///
    /// - Throws: `GrantRefusal` by the rules; its code says what was changed despite the refusal.
    ///   `StorageError` from the database, and `OverloadedError` when the command was not accepted: nothing
    ///   was stored. Exception: after `unavailable` from a remote database the outcome is unknown.
    public func submit(_ command: GrantCommand) async throws -> GrantOutcome {
        try await loop.submit(command)
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

private struct GrantCommits: CommitTarget {
    let store: any AuthorizationStore

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        store.commit(commands, completion: completion)
    }
}

extension GrantCommitResult: CommittedBatch {
    var count: Int { results.count }

    func outcome(at index: Int) -> Result<GrantOutcome, any Error> { results[index] }
}
