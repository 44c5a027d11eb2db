package import AppleAccounts
package import Logging
package import Metrics

/// Background work that waits in the database: claims pieces of work, and performs them. `ClaimLoop` runs it.
package protocol Worker: Sendable {
    associatedtype Work: Sendable
    associatedtype WorkResult: CountedResult

    static var traits: WorkerTraits { get }

    var context: WorkerContext<WorkResult> { get }

    /// Bounds the rate of claims. `nil` claims all due work.
    var claimPace: SharedPace? { get }

    /// Claims at most `limit` due pieces. Claims are durable, and expire by themselves.
    func claim(limit: Int, at moment: Moment) async throws -> [Work]

    /// Returns the due time of the next piece; `nil` without pieces.
    func nextDue() async throws -> Moment?

    /// Performs one piece, and stores all results that must not be lost.
    func perform(_ work: Work) async -> WorkOutcome<WorkResult>

    /// Client ID of the work. Log lines are throttled for
    /// each client ID separately. There are few client IDs.
    func clientID(of work: Work) -> String

    /// Names a piece in the log.
    func logMetadata(of work: Work) -> Logger.Metadata
}

extension Worker {
    package func now() -> Moment { context.now() }

    /// Logs a line about a piece, at most once a minute for each client ID and error.
    package func tell(
        _ message: Logger.Message, of work: Work, _ error: (any Error)? = nil, level: Logger.Level,
        adding metadata: Logger.Metadata = [:]
    ) {
        context.log.tell(
            message, about: error, of: clientID(of: work), level: level, at: now(),
            metadata: logMetadata(of: work).merging(metadata) { $1 })
    }
}

/// The constants of a worker: one value, declared with the worker.
package struct WorkerTraits: Sendable {
    /// The largest number of concurrent pieces.
    package let width: Int
    /// The longest time between two looks into the database. Bounds the wait
    /// of work without a signal, such as the work of a stopped process.
    package let longestLook: Duration
    /// The pause after a claim that failed.
    package let failurePause: Duration
    /// Logged after a failed claim.
    package let unclaimed: Logger.Message
    /// The counter of the results.
    package let counter: String
    /// The sentence about the counter for Prometheus.
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

/// The end of one piece of work.
package enum WorkOutcome<WorkResult: CountedResult>: Sendable {
    /// Everything is stored.
    case ended(WorkResult)
    /// Everything is stored, and the work has counted its several results itself.
    case counted
    /// One write ends the claim: it postpones the work or removes it.
    case ends(WorkResult, with: ClaimEnd)
    /// No result, because the work was cancelled or its result was not stored.
    /// The claim expires by itself, and the next claimer determines the state.
    case cutOff
}

/// A write that ends a claim. Not repeated if the database fails, because the claim then expires by itself.
package struct ClaimEnd: Sendable {
    /// Logged when the database fails.
    let unstored: Logger.Message
    let write: @Sendable () async throws -> Void
}

/// The dependencies of every worker besides its work: signal, clocks, log and counters.
package struct WorkerContext<WorkResult: CountedResult>: Sendable {
    /// Wakes the worker when there is work.
    package let signal: WakeupSignal
    /// The clock of pauses and retries.
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

/// The results of a worker, each with its own counter.
package protocol CountedResult: Hashable, Sendable, CaseIterable {
    /// The label `result` of the metric.
    var label: String { get }
}

extension CountedResult where Self: RawRepresentable, RawValue == String {
    package var label: String { rawValue }
}

/// A counter for each result of a worker, made at the start, so that a result without occurrences is 0.
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
    /// - Parameter label: Label as in swift-metrics, without the suffix that the exposition format adds.
    func describeCounter(_ label: String, help: String)

    /// - Parameter label: Label as in swift-metrics.
    func describeMeter(_ label: String, help: String)
}
