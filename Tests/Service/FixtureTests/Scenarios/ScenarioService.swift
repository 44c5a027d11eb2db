import AppleAccounts
import AppleIdentity
import Commits
import KeySets
import SignIn
import TestSupport

/// The service from start to end of one process: its own modules, with a stub of Apple and a manual clock.
struct ScenarioService: Sendable {
    /// Durations that occur nowhere else in the key set, so that these time-outs differ from the refresh
    /// loop's sleep.
    private static let (longestFetch, longestSnapshotLoad): (Int64, Int64) = (19_999, 1999)

    let useCases: SignInUseCases
    let store: any AccountStore
    let commits: GroupCommit<AccountCommand>
    private let feed: EventFeed
    private let storage: any ScenarioStorage
    private let clock: ManualClock
    private let refreshing: Task<Void, Never>

    init(
        deployment: Deployment, storage: any ScenarioStorage, apple: StubKeySetSource, clock: ManualClock,
        nonceKey: NonceKey
    ) async throws {
        let (accounts, snapshots) = try await storage.open()
        let keys = RemoteKeySet(
            source: apple, snapshots: snapshots, clock: clock,
            bounds: KeySetBounds(
                longestFetch: Self.longestFetch, longestSnapshotLoad: Self.longestSnapshotLoad),
            jitter: { 500 })
        await keys.restore()
        let feed = EventFeed()
        self.clock = clock
        self.feed = feed
        self.storage = storage
        store = accounts
        commits = GroupCommit<AccountCommand>(store: accounts, feed: feed)
        useCases = SignInUseCases(
            deployment: deployment, policy: VerificationPolicy(clientIDs: []), keys: keys, store: accounts,
            commits: commits, feed: feed, tokenContext: AppleTokenContext(tokens: accounts),
            nonceKey: nonceKey,
            now: { Moment(milliseconds: clock.millisecondsSince1970) })
        // Runs beside the steps until the service ends.
        refreshing = Task { await keys.run() }
        try await settle()
    }

    /// Moves the clock in steps, so that the refresh loop does its due work at each moment.
    func wait(until moment: Int64) async throws {
        while let next = clock.deadlines.min(), next <= moment {
            clock.advance(to: next)
            try await settle()
        }
        clock.advance(to: moment)
    }

    func end() async {
        refreshing.cancel()
        await refreshing.value
        await commits.drain()
        feed.close()
        await storage.close()
    }

    /// Returns when only the refresh loop sleeps.
    private func settle() async throws {
        for _ in 0..<10_000_000 {
            let now = clock.millisecondsSince1970
            let deadlines = clock.deadlines
            let timeOuts = [now + Self.longestFetch, now + Self.longestSnapshotLoad]
            if deadlines.count == 1, deadlines.allSatisfy({ $0 > now && !timeOuts.contains($0) }) { return }
            await Task.yield()
        }
        throw FixtureError("the refresh loop does not come to rest")
    }
}
