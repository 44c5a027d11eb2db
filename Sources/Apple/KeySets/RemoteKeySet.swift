public import AppleIdentity
public import JOSE
import Synchronization

/// Apple's key set, fetched, cached, refreshed and stored.
///
/// This class is the shell around `KeySetState`: it executes the actions that the state returns, and makes no
/// decisions itself. Run it in the service group, after `restore()`:
/// ```swift
/// let keys = RemoteKeySet(source: source, snapshots: store)
/// await keys.restore()
/// await keys.run()    // until cancelled
/// ```
/// Before each fetch it checks whether another process has stored a newer set, so that replicas with a shared
/// store send few more requests to Apple than one process would.
///
/// Without `run()`, the first request for a key fetches the set, and later `key(for:)` calls refresh it.
public final class RemoteKeySet: VerificationKeys {
    private struct Shared {
        var state: KeySetState
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var isRestored = false

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let source: any KeySetSource
    private let snapshots: (any KeySetSnapshotStore)?
    private let clock: any KeySetClock
    private let jitter: @Sendable () -> Int64
    private let snapshotReader: SnapshotReader?
    private let shared: Mutex<Shared>

    /// Creates the key set. `jitter` returns random numbers from 0 to 1000.
    public init(
        source: any KeySetSource,
        snapshots: (any KeySetSnapshotStore)? = nil,
        clock: any KeySetClock = SystemKeySetClock(),
        bounds: KeySetBounds = KeySetBounds(),
        jitter: @escaping @Sendable () -> Int64 = { Int64.random(in: 0...1000) }
    ) {
        self.source = source
        self.snapshots = snapshots
        self.clock = clock
        self.jitter = jitter
        snapshotReader = snapshots.map {
            SnapshotReader(store: $0, clock: clock, timeLimit: bounds.longestSnapshotLoad)
        }
        shared = Mutex(Shared(state: KeySetState(bounds: bounds)))
    }

    public func cachedKey(for keyID: String) -> RSAPublicKey? {
        let now = clock.millisecondsSince1970
        return shared.withLock { $0.state.usableKey(for: keyID, at: now) }
    }

    public func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        try await key(for: keyID, issuedAt: nil)
    }

    public func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey {
        let issuedAt = issuedAt?.millisecondsSince1970
        let (action, key) = shared.withLock { shared in
            let now = clock.millisecondsSince1970
            let action = shared.state.lookUp(
                keyID, issuedAt: issuedAt, at: now, waiters: shared.waiters.count)
            if case .startFetch(let fetch) = action { launch(fetch, in: &shared) }
            if case .useAndStartFetch(let fetch) = action { launch(fetch, in: &shared) }
            return (action, shared.state.usableKey(for: keyID, at: now))
        }
        if let key { return key }
        switch action {
        case .startFetch(let fetch): await fetchEnd(fetch.number)
        case .joinFetch(let number): await fetchEnd(number)
        case .refuse(let refusal): throw refusal
        case .use, .useAndStartFetch: break
        }
        return try settle(keyID, issuedAt: issuedAt)
    }

    public var health: KeySetHealth {
        let now = clock.millisecondsSince1970
        return shared.withLock { shared in
            var health = shared.state.health(at: now)
            health.waiterCount = shared.waiters.count
            return health
        }
    }

    /// Loads the stored set, so that the service works after a restart even while Apple is down. The stored
    /// set must pass the same checks as a fetched set; otherwise it is ignored.
    @discardableResult
    public func restore() async -> RestoreResult {
        shared.withLock { $0.isRestored = true }
        guard let snapshots else { return .nothingStored }
        do {
            guard let snapshot = try await snapshots.load() else { return .nothingStored }
            let received = try ReceivedKeySet(snapshot.body, entityTag: snapshot.entityTag)
            let isRestored = shared.withLock {
                $0.state.restore(received, from: snapshot, at: clock.millisecondsSince1970, jitter: jitter())
            }
            return isRestored ? .restored : .ignored
        } catch is KeySetFetchError {
            return .ignored
        } catch {
            shared.withLock { $0.state.noteSnapshotFailure() }
            return .storeFailed
        }
    }

    /// Runs the refresh loop until the task is cancelled, calling `restore()` first
    /// unless the caller has done so. No fetch is running when this returns, so the
    /// owner may shut down the source and the store. Cached keys stay usable.
    public func run() async {
        shared.withLock { $0.state.resume() }
        if !shared.withLock({ $0.isRestored }) { await restore() }
        while !Task.isCancelled {
            let action = shared.withLock { shared in
                let action = shared.state.nextRefresh(at: clock.millisecondsSince1970)
                if case .startFetch(let fetch) = action { launch(fetch, in: &shared) }
                return action
            }
            switch action {
            case .startFetch(let fetch): await fetchEnd(fetch.number)
            case .joinFetch(let number): await fetchEnd(number)
            case .sleep(let moment): try? await clock.sleep(untilMilliseconds: moment)
            }
        }
        let tasks = shared.withLock { shared in
            shared.state.stop()
            return Array(shared.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await snapshotReader?.end()
    }

    private func settle(_ keyID: String, issuedAt: Int64?) throws(KeySetError) -> RSAPublicKey {
        let now = clock.millisecondsSince1970
        let (key, refusal) = shared.withLock {
            (
                $0.state.usableKey(for: keyID, at: now),
                $0.state.refusal(for: keyID, issuedAt: issuedAt, at: now)
            )
        }
        guard let key else { throw refusal }
        return key
    }

    private func launch(_ fetch: KeySetFetch, in shared: inout Shared) {
        // The task is unstructured, so that cancelling one caller does not cancel a fetch that other callers
        // wait for.
        shared.tasks[fetch.number] = Task { await self.carryOut(fetch) }
    }

    private func carryOut(_ fetch: KeySetFetch) async {
        if case .ask(let fetch) = await readStore(for: fetch) {
            let outcome = await outcome(of: fetch)
            let (action, waiters) = shared.withLock { shared in
                let action = shared.state.finish(
                    fetch, with: outcome, at: clock.millisecondsSince1970, jitter: jitter())
                return (action, shared.takeWaiters())
            }
            for waiter in waiters { waiter.resume() }
            if case .wakeWaitersAndSave(let snapshot) = action { await save(snapshot) }
        }
        shared.withLock { $0.tasks[fetch.number] = nil }
    }

    private func readStore(for fetch: KeySetFetch) async -> StoredSetAction {
        let snapshot = await snapshotReader?.snapshot {
            self.shared.withLock { $0.state.noteSnapshotFailure() }
        }
        guard let snapshot,
            let received = try? ReceivedKeySet(snapshot.body, entityTag: snapshot.entityTag)
        else { return .ask(fetch) }
        let (action, waiters) = shared.withLock { shared in
            let action = shared.state.adopt(
                received, from: snapshot, for: fetch, at: clock.millisecondsSince1970, jitter: jitter())
            return (action, action == .wakeWaiters ? shared.takeWaiters() : [])
        }
        for waiter in waiters { waiter.resume() }
        return action
    }

    private func outcome(of fetch: KeySetFetch) async -> KeySetFetchOutcome {
        await withTaskGroup(of: KeySetFetchOutcome.self) { group in
            group.addTask { await self.ask(fetch) }
            group.addTask {
                // This sleep limits the wait even if a source ignores its own time limit.
                do { try await self.clock.sleep(untilMilliseconds: fetch.giveUpAt) } catch {
                    return .cancelled
                }
                return .failed(.timedOut)
            }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            return first
        }
    }

    private func ask(_ fetch: KeySetFetch) async -> KeySetFetchOutcome {
        do {
            shared.withLock { $0.state.noteStatus(nil) }
            let response = try await source.fetch(ifNoneMatch: fetch.entityTag)
            shared.withLock { $0.state.noteStatus(response.status) }
            return KeySetFetchOutcome(response, to: fetch.entityTag)
        } catch {
            if Task.isCancelled { return .cancelled }
            return .failed((error as? KeySetFetchError)?.code ?? .unreachable)
        }
    }

    private func save(_ snapshot: KeySetSnapshot) async {
        do {
            try await snapshots?.save(snapshot)
        } catch {
            shared.withLock { $0.state.noteSnapshotFailure() }
        }
    }

    /// Returns when the fetch ends or the caller is cancelled.
    private func fetchEnd(_ number: UInt64) async {
        let waiter = shared.withLock { shared in
            shared.nextWaiter &+= 1
            return shared.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = shared.withLock { shared in
                    // This check needs the lock: if the fetch ends or the caller is cancelled later, the
                    // waiter is already in the list.
                    guard shared.state.isRunning(number), !Task.isCancelled else { return true }
                    shared.waiters[waiter] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            shared.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }
}
