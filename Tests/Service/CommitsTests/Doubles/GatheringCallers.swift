import AppleAccounts
import Metrics
import StorageConformance

@testable import Commits

/// Sign-ins in a queue with a stopped clock, whose delays the test ends.
struct GatheringCallers {
    let delays = HeldDelays()
    let commits: GroupCommit<AccountCommand>
    private let results = AsyncStream<Void>.makeStream()

    init(store: any AccountStore, feed: EventFeed) {
        let start = ContinuousClock.now
        commits = GroupCommit<AccountCommand>(
            store: store, feed: feed, capacity: 100, largestBatch: 100, delay: delays.delay,
            factory: MetricsSystem.factory, now: { start })
    }

    /// Submits sign-ins of this many users at the same time.
    func submit(_ name: String, _ count: Int) {
        commits.submit(
            (1...count).map { number in
                GroupCommit<AccountCommand>.Entry(.signIn(.sample(key: .sample("\(name)-\(number)")))) {
                    [results] _ in
                    results.continuation.yield()
                }
            })
    }

    /// Returns when this many callers have their results.
    func responses(_ count: Int) async { for await _ in results.stream.prefix(count) {} }
}
