import Metrics

/// The metrics of a commit queue, recorded once for each transaction. Commands divided by commits are the
/// size of a batch.
@usableFromInline
struct CommitMetrics: Sendable {
    private let commits: Counter
    private let failures: Counter
    private let commands: Counter
    private let failedCommands: Counter
    private let duration: Timer

    /// - Parameter prefix: The first part of the names of this queue's metrics.
    init(prefix: String, factory: any MetricsFactory) {
        func counter(_ name: String, _ result: String) -> Counter {
            Counter(label: "\(prefix)_\(name)", dimensions: [("result", result)], factory: factory)
        }
        commits = counter("commits", "ok")
        failures = counter("commits", "failed")
        commands = counter("commands", "ok")
        failedCommands = counter("commands", "failed")
        duration = Timer(
            label: "\(prefix)_commit_seconds", preferredDisplayUnit: .seconds, factory: factory)
    }

    @usableFromInline
    func committed(_ count: Int, in time: Duration) {
        commits.increment()
        commands.increment(by: count)
        duration.record(duration: time)
    }

    @usableFromInline
    func failed(_ count: Int) {
        failures.increment()
        failedCommands.increment(by: count)
    }
}
