import AppleAccounts
import AppleIdentity
import Commits
import KeySets
import Logging
import SQLiteStorage
import SignIn
import StorageConformance
import Synchronization
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

/// Storage that outlives a restart.
protocol ScenarioStorage: Sendable {
    /// Opens the storage for one process of the service.
    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    )
    /// Closes the storage at the end of the process.
    func close() async
}

/// The reference store. It exists for the whole scenario, as a database would.
struct MemoryScenarioStorage: ScenarioStorage {
    private let accounts = ReferenceStore()
    private let snapshots = MemorySnapshotStore()

    func open() -> (accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore) {
        (accounts, snapshots)
    }

    func close() {}
}

private final class MemorySnapshotStore: KeySetSnapshotStore {
    private let snapshot = Mutex<KeySetSnapshot?>(nil)

    func load() -> KeySetSnapshot? { snapshot.withLock { $0 } }

    func save(_ snapshot: KeySetSnapshot) { self.snapshot.withLock { $0 = snapshot } }
}

/// A database file in a directory of its own, which is removed with this value.
final class SQLiteScenarioStorage: ScenarioStorage {
    private let directory: TemporaryDirectory
    private let database = Mutex<SQLiteDatabase?>(nil)

    init() throws {
        directory = try TemporaryDirectory()
    }

    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    ) {
        var logger = Logger(label: "scenario")
        logger.logLevel = .error
        let opened = try await SQLiteDatabase.open(
            path: directory.path(of: "siwa.sqlite"), logger: logger)
        database.withLock { $0 = opened }
        return (opened.accounts, opened.keySetSnapshots)
    }

    func close() async {
        let opened = database.withLock { database in
            defer { database = nil }
            return database
        }
        await opened?.close()
    }
}

/// Apple's key endpoint: sends the configured response and counts its requests.
final class StubKeySetSource: KeySetSource {
    private let state = Mutex<(answer: AppleAnswer?, fetches: Int)>((nil, 0))

    var fetches: Int { state.withLock { $0.fetches } }

    func answer(_ answer: AppleAnswer) {
        state.withLock { $0.answer = answer }
    }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let answer = state.withLock { state in
            state.fetches += 1
            return state.answer
        }
        guard let answer else { throw KeySetFetchError(.unreachable) }
        return try answer.response()
    }
}
