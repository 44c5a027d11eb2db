public import AppleAccounts
public import AuthorizationServer
public import Metrics
import TraceExport
public import Tracing

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
