import AppleAccounts
import AuthorizationServer
import Metrics
import StorageConformance
import Synchronization

@testable import Commits

/// A store whose commits wait for the test, one by one, and fail when the test requests it.
final class HeldStore: RelayingStore {
    private struct State {
        var batches: [[AccountCommand]] = []
        var isOpen = false
        var permits = 0
        var failures: [StorageError] = []
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    let reference = ReferenceStore()
    private let state = Mutex(State())

    var behind: any AccountStore { reference }

    /// The received batches, in order.
    var batches: [[AccountCommand]] { state.withLock { $0.batches } }

    /// Lets this many commits continue.
    func letGo(_ count: Int = 1) {
        for _ in 0..<count {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.held.isEmpty else {
                    state.permits += 1
                    return nil
                }
                return state.held.removeFirst()
            }
            continuation?.resume()
        }
    }

    /// Lets this and all later commits continue.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Makes the next commit fail as a whole.
    func failNext(_ error: StorageError) { state.withLock { $0.failures.append(error) } }

    /// Returns when this many batches have arrived.
    func arrival(of count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.batches.count < count else { return true }
                state.arrivals.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        let waiters = state.withLock { state in
            state.batches.append(commands)
            let ready = state.arrivals.filter { $0.count <= state.batches.count }
            state.arrivals.removeAll { $0.count <= state.batches.count }
            return ready.map(\.1)
        }
        for waiter in waiters { waiter.resume() }
        await withCheckedContinuation { continuation in
            let mayGo = state.withLock { state in
                if state.isOpen { return true }
                if state.permits > 0 {
                    state.permits -= 1
                    return true
                }
                state.held.append(continuation)
                return false
            }
            if mayGo { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
        return try await behind.commit(commands)
    }
}

/// A store of grants whose commits wait for the test, and fail when the test requests it.
final class HeldGrantStore: RelayingAuthorizationStore {
    private struct State {
        var batches: [[GrantCommand]] = []
        var isOpen = false
        var failures: [any Error] = []
        var held: [@Sendable () -> Void] = []
    }

    let reference = ReferenceStore()
    private let state = Mutex(State())

    var grantsBehind: any AuthorizationStore { reference }

    /// The received batches, in order.
    var batches: [[GrantCommand]] { state.withLock { $0.batches } }

    /// Lets the waiting commit continue.
    func letGo() {
        let held = state.withLock { $0.held.removeFirst() }
        held()
    }

    /// Lets this and all later commits continue.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for commit in held { commit() }
    }

    /// Makes the next commit fail as a whole.
    func failNext(_ error: any Error) { state.withLock { $0.failures.append(error) } }

    /// Returns when this many batches have arrived.
    func arrival(of count: Int) async { while batches.count < count { await Task.yield() } }

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        let commit: @Sendable () -> Void = { [self] in
            let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
            if let failure { return completion(.failure(failure)) }
            grantsBehind.commit(commands, completion: completion)
        }
        let isOpen = state.withLock { state in
            state.batches.append(commands)
            if !state.isOpen { state.held.append(commit) }
            return state.isOpen
        }
        if isOpen { commit() }
    }
}

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

/// Delays that last until the test ends them.
final class HeldDelays: Sendable {
    private let state = Mutex<(count: Int, held: [@Sendable () -> Void])>((0, []))

    /// Number of delays that have begun.
    var count: Int { state.withLock { $0.count } }

    var delay: CommitDelay {
        { then in
            self.state.withLock { state in
                state.count += 1
                state.held.append(then)
            }
        }
    }

    /// Returns when this many delays have begun.
    func arrival(of number: Int) async { while count < number { await Task.yield() } }

    /// Ends the running delays.
    func letGo() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for then in held { then() }
    }
}
