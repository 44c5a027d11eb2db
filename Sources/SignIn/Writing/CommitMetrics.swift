import Metrics

/// The metrics of the group commit, recorded once for each transaction.
struct CommitMetrics: Sendable {
    private let commits = Counter(label: "siwa_storage_commits", dimensions: [("result", "ok")])
    private let failures = Counter(label: "siwa_storage_commits", dimensions: [("result", "failed")])
    private let commands = Counter(label: "siwa_storage_commands", dimensions: [("result", "ok")])
    private let failedCommands = Counter(label: "siwa_storage_commands", dimensions: [("result", "failed")])
    private let duration = Timer(label: "siwa_storage_commit_seconds", preferredDisplayUnit: .seconds)

    func committed(_ count: Int, in time: Duration) {
        commits.increment()
        commands.increment(by: count)
        duration.record(duration: time)
    }

    func failed(_ count: Int) {
        failures.increment()
        failedCommands.increment(by: count)
    }
}
