package import AppleAccounts
package import Logging
package import Metrics

/// Performs background work that waits in the database: claims work items, then performs them. `ClaimLoop`
/// runs it.
package protocol Worker: Sendable {
    associatedtype Work: Sendable
    associatedtype WorkResult: CountedResult

    static var traits: WorkerTraits { get }

    var context: WorkerContext<WorkResult> { get }

    /// Bounds the rate of claims; `nil` to claim all due work.
    var claimPace: SharedPace? { get }

    /// Claims at most `limit` due work items. Claims are durable, and expire by themselves.
    func claim(limit: Int, at moment: Moment) async throws -> [Work]

    /// Returns the due time of the next work item; `nil` if there is none.
    func nextDue() async throws -> Moment?

    /// Performs a work item, and stores all results that must not be lost.
    func perform(_ work: Work) async -> WorkOutcome<WorkResult>

    /// Returns a work item's client ID. Log lines are throttled separately for each client ID, because there
    /// are only a few client IDs.
    func clientID(of work: Work) -> String

    /// Returns log metadata that identifies a work item.
    func logMetadata(of work: Work) -> Logger.Metadata
}

extension Worker {
    package func now() -> Moment { context.now() }

    /// Logs a line about a work item, at most once a minute for each client ID and error.
    package func tell(
        _ message: Logger.Message, of work: Work, _ error: (any Error)? = nil, level: Logger.Level,
        adding metadata: Logger.Metadata = [:]
    ) {
        context.log.tell(
            message, about: error, of: clientID(of: work), level: level, at: now(),
            metadata: logMetadata(of: work).merging(metadata) { $1 })
    }
}

/// A worker's constants. Each worker declares its own traits.
package struct WorkerTraits: Sendable {
    /// Maximum number of concurrent work items.
    package let width: Int
    /// Maximum time between two database reads that look for due work. It bounds the delay for work without a
    /// signal, such as a stopped process's work.
    package let longestLook: Duration
    /// Pause after a failed claim.
    package let failurePause: Duration
    /// Log message after a failed claim.
    package let unclaimed: Logger.Message
    /// Name of the results counter.
    package let counter: String
    /// Help text for the counter.
    package let help: String

    package init(
        width: Int, longestLook: Duration, failurePause: Duration, unclaimed: Logger.Message,
        counter: String, help: String
    ) {
        self.width = width
        self.longestLook = longestLook
        self.failurePause = failurePause
        self.unclaimed = unclaimed
        self.counter = counter
        self.help = help
    }
}

/// The outcome of a work item.
package enum WorkOutcome<WorkResult: CountedResult>: Sendable {
    /// All results are stored.
    case ended(WorkResult)
    /// All results are stored, and the worker has counted several results itself.
    case counted
    /// A write ends the claim, and either postpones or removes the work.
    case ends(WorkResult, with: ClaimEnd)
    /// There is no result, because the work was cancelled or its result was not stored. The claim expires by
    /// itself, and the next claim determines the state.
    case cutOff
}

/// A write that ends a claim. It is not retried if the database fails, because the claim expires by itself.
package struct ClaimEnd: Sendable {
    /// Log message if the database fails.
    let unstored: Logger.Message
    let write: @Sendable () async throws -> Void
}

/// The dependencies that all workers share: signal, clocks, log and counters.
package struct WorkerContext<WorkResult: CountedResult>: Sendable {
    /// Wakes the worker when there is work.
    package let signal: WakeupSignal
    /// The clock that measures pauses and retries.
    package let clock: any Clock<Duration>
    package let now: @Sendable () -> Moment
    package let log: ThrottledLog
    package let counters: ResultCounters<WorkResult>

    package init<W: Worker>(
        for worker: W.Type, signals: WorkerSignals, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) where W.WorkResult == WorkResult {
        signal = signals[worker]
        self.clock = clock
        self.now = now
        log = ThrottledLog(logger)
        counters = ResultCounters(worker.traits.counter, help: worker.traits.help)
    }
}

/// A worker's results. Each result has its own counter.
package protocol CountedResult: Hashable, Sendable, CaseIterable {
    /// Value of the metric's `result` label.
    var label: String { get }
}

extension CountedResult where Self: RawRepresentable, RawValue == String {
    package var label: String { rawValue }
}

/// A counter for each of a worker's results. The initializer makes all counters, so that the count of a new
/// result is 0.
package struct ResultCounters<WorkResult: CountedResult>: Sendable {
    private let counters: [WorkResult: Counter]

    package init(_ label: String, help: String, factory: any MetricsFactory = MetricsSystem.factory) {
        (factory as? any DescribedMetricsFactory)?.describeCounter(label, help: help)
        counters = Dictionary(
            uniqueKeysWithValues: WorkResult.allCases.map { result in
                (result, Counter(label: label, dimensions: [("result", result.label)], factory: factory))
            })
    }

    package func count(_ result: WorkResult) {
        counters[result]?.increment()
    }
}

/// A metrics factory that accepts help texts, which swift-metrics does not support.
package protocol DescribedMetricsFactory: MetricsFactory {
    /// - Parameter label: The label as in swift-metrics, without the suffix that the exposition format adds.
    func describeCounter(_ label: String, help: String)

    /// - Parameter label: The label as in swift-metrics.
    func describeMeter(_ label: String, help: String)
}
