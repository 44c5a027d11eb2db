import AppleAccounts
public import AuthorizationServer
import Metrics
public import ServiceLifecycle

/// Commits changes of OAuth grants in groups, as `GroupCommit` does with accounts: what arrives during a
/// transaction goes together into the next one (`CommitLoop`).
///
/// A queue of its own, so that a flood at the token endpoint never makes a sign-in wait for a place in a
/// transaction. An accepted command is carried out exactly once, even when its caller is cancelled meanwhile.
public final class GrantCommit: Service, Sendable {
    private let loop: CommitLoop<GrantCommits>

    /// - Parameters:
    ///   - capacity: How many commands may wait. Above it they are refused.
    ///   - largestBatch: How many commands go into one transaction, which bounds how long it takes.
    ///   - delay: Waits a moment for commands that are likely to arrive at once. `nil` to wait for none.
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

    /// How many commands wait, without those that are being committed.
    public var depth: Int { loop.depth }

    /// For requests that can be retried, before any work is done for them.
    ///
    /// - Throws: `OverloadedError`; `StorageError` when the database does not respond.
    public func requireCapacity() throws {
        try loop.requireCapacity()
    }

    var isClosed: Bool { loop.isClosed }

    /// Returns when the command is durable.
    ///
    /// - Throws: `GrantRefusal` by the rules; its code says what was changed all the same. `StorageError`
    ///   from the database, and `OverloadedError` when the command was not accepted: nothing was stored.
    ///   Exception: after `unavailable` from a remote database the outcome is unknown.
    public func submit(_ command: GrantCommand) async throws -> GrantOutcome {
        try await loop.submit(command)
    }

    /// Accepts nothing more, and returns when every accepted command has its result.
    public func drain() async {
        await loop.drain()
    }

    /// Drains at shutdown. In a service group it comes before the server, which then has stopped already.
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
