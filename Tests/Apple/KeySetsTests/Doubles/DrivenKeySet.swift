import KeySets
import TestSupport
import Testing

/// Milliseconds.
let second: Int64 = 1000
let minute: Int64 = 60 * second
let hour: Int64 = 60 * minute
let day: Int64 = 24 * hour

/// A `KeySetState` for tests. It is a class, so that calls within expectations may change it.
final class DrivenKeySet {
    /// 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600_000

    private var state: KeySetState

    /// Makes a state without a key set.
    init(bounds: KeySetBounds = KeySetBounds()) {
        state = KeySetState(bounds: bounds)
    }

    /// Makes a state with a key set that was fetched at `start`.
    static func holding(
        _ keyIDs: [String] = ["A", "B"], entityTag: String? = nil, cacheControl: String? = nil,
        bounds: KeySetBounds = KeySetBounds()
    ) throws -> DrivenKeySet {
        let driven = DrivenKeySet(bounds: bounds)
        try driven.refresh(.set(keyIDs, entityTag: entityTag, cacheControl: cacheControl), at: start)
        return driven
    }

    /// Starts the due fetch of the refresh loop, and finishes it.
    @discardableResult
    func refresh(_ response: KeySetFetchOutcome, at now: Int64, jitter: Int64 = 0) throws -> FinishAction {
        finish(try dueFetch(at: now), with: response, at: now, jitter: jitter)
    }

    func dueFetch(at now: Int64) throws -> KeySetFetch {
        guard case .startFetch(let fetch) = nextRefresh(at: now) else {
            throw TestFailure("no fetch is due")
        }
        return fetch
    }

    /// Looks up a key, which must start a fetch.
    func causedFetch(_ keyID: String, at now: Int64) throws -> KeySetFetch {
        guard case .startFetch(let fetch) = lookUp(keyID, at: now) else {
            throw TestFailure("no fetch was caused")
        }
        return fetch
    }

    /// Moment of the next fetch of the refresh loop, as of `now`, without starting the fetch.
    func nextFetch(after now: Int64) -> Int64 {
        var copy = state
        var moment = now
        while case .sleep(let until) = copy.nextRefresh(at: moment) { moment = until }
        return moment
    }

    func has(_ keyID: String, at now: Int64) -> Bool { state.usableKey(for: keyID, at: now) != nil }

    func lookUp(
        _ keyID: String, issuedAt: Int64? = nil, at now: Int64, waiters: Int = 0
    ) -> LookUpAction {
        state.lookUp(keyID, issuedAt: issuedAt, at: now, waiters: waiters)
    }

    func refusal(for keyID: String = "x", issuedAt: Int64? = nil, at now: Int64) -> KeySetError {
        state.refusal(for: keyID, issuedAt: issuedAt, at: now)
    }

    func isRunning(_ number: UInt64) -> Bool { state.isRunning(number) }

    func nextRefresh(at now: Int64) -> RefreshAction { state.nextRefresh(at: now) }

    @discardableResult
    func finish(
        _ fetch: KeySetFetch, with outcome: KeySetFetchOutcome, at now: Int64, jitter: Int64 = 0
    ) -> FinishAction {
        state.finish(fetch, with: outcome, at: now, jitter: jitter)
    }

    func restore(
        _ keyIDs: [String], entityTag: String? = nil, fetchedAt: Int64, freshUntil: Int64, at now: Int64,
        jitter: Int64 = 0
    ) throws -> Bool {
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(keyIDs), entityTag: entityTag, fetchedAt: fetchedAt,
            freshUntil: freshUntil)
        let received = try SampleKeySet.received(keyIDs, entityTag: entityTag)
        return state.restore(received, from: snapshot, at: now, jitter: jitter)
    }

    /// Adopts a snapshot that another process has stored.
    func adopt(
        _ keyIDs: [String], entityTag: String? = nil, fetchedAt: Int64, freshUntil: Int64? = nil,
        for fetch: KeySetFetch, at now: Int64, jitter: Int64 = 0
    ) throws -> StoredSetAction {
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(keyIDs), entityTag: entityTag, fetchedAt: fetchedAt,
            freshUntil: freshUntil ?? fetchedAt + hour)
        let received = try SampleKeySet.received(keyIDs, entityTag: entityTag)
        return state.adopt(received, from: snapshot, for: fetch, at: now, jitter: jitter)
    }

    func health(at now: Int64) -> KeySetHealth { state.health(at: now) }

    func stop() { state.stop() }

    func resume() { state.resume() }
}

extension ManualClock {
    /// Makes a key set that reads this clock.
    func keySet(_ source: StubSource, snapshots: (any KeySetSnapshotStore)? = nil) -> RemoteKeySet {
        RemoteKeySet(source: source, snapshots: snapshots, clock: self, jitter: { 0 })
    }
}
