import Encodings
import KeySets
import StrictJSON
import Synchronization
import TestSupport
import Testing

/// A source with responses of the test, which records the requests.
final class StubSource: KeySetSource {
    private let asked = Mutex<[String?]>([])
    private let answer: @Sendable (_ number: Int) async throws -> KeySetResponse

    init(_ answer: @escaping @Sendable (_ number: Int) async throws -> KeySetResponse) {
        self.answer = answer
    }

    convenience init(_ response: KeySetResponse) { self.init { _ in response } }

    /// The entity tags of the requests, one for each fetch.
    var entityTags: [String?] { asked.withLock { $0 } }
    var fetchCount: Int { entityTags.count }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let number = asked.withLock { asked in
            asked.append(entityTag)
            return asked.count
        }
        return try await answer(number)
    }
}

/// Key sets with keys that pass all checks but have no private keys, because generating real ones takes too
/// long.
enum SampleKeySet {
    static func body(_ keyIDs: [String], generation: UInt8 = 1) -> [UInt8] {
        let entries = keyIDs.map { keyID in
            JSONValue.object(
                JSONObject([
                    ("kty", .string("RSA")), ("kid", .string(keyID)), ("use", .string("sig")),
                    ("alg", .string("RS256")), ("n", .string(modulus(of: keyID, generation))),
                    ("e", .string("AQAB")),
                ]))
        }
        return JSONValue.object(JSONObject([("keys", .array(entries))])).serialized()
    }

    /// A valid key set without a usable key.
    static let withoutUsableKey = Array(
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"EC","x":"AA","y":"AA"},{"kty":"oct","kid":"o"}]}"#.utf8)

    static func received(_ keyIDs: [String], entityTag: String? = nil) throws -> ReceivedKeySet {
        try ReceivedKeySet(body(keyIDs), entityTag: entityTag)
    }

    static func response(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) -> KeySetResponse {
        KeySetResponse(
            status: 200, body: body(keyIDs), contentType: "application/json;charset=UTF-8",
            entityTag: entityTag, cacheControl: cacheControl)
    }

    /// A modulus of 2048 bits, odd, different for each key ID.
    private static func modulus(of keyID: String, _ generation: UInt8) -> String {
        var state = keyID.utf8.reduce(UInt64(generation)) { ($0 &* 31) &+ UInt64($1) }
        var bytes = (0..<256).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        bytes[0] |= 0x80
        bytes[255] |= 1
        return Base64URL.encode(bytes)
    }
}

/// Suspends callers until it is opened or they are cancelled.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var nextID: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var cancelled = 0
    }

    private let state = Mutex(State())

    var waiterCount: Int { state.withLock { $0.waiters.count } }
    var cancelledCount: Int { state.withLock { $0.cancelled } }

    func pass() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    if Task.isCancelled {
                        state.cancelled += 1
                        return .failure(CancellationError())
                    }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter != nil { state.cancelled += 1 }
                return waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            let waiters = state.waiters
            state.waiters = [:]
            return waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }
}

/// Stores the snapshot in memory, for tests that replace a key set with a new one.
final class MemorySnapshotStore: KeySetSnapshotStore {
    private let stored: Mutex<KeySetSnapshot?>

    init(_ snapshot: KeySetSnapshot? = nil) { stored = Mutex(snapshot) }

    var snapshot: KeySetSnapshot? { stored.withLock { $0 } }

    func load() async throws -> KeySetSnapshot? { snapshot }

    func save(_ snapshot: KeySetSnapshot) async throws { stored.withLock { $0 = snapshot } }
}

/// A store whose calls all fail.
struct BrokenSnapshotStore: KeySetSnapshotStore {
    func load() async throws -> KeySetSnapshot? { throw TestFailure("disk full") }

    func save(_ snapshot: KeySetSnapshot) async throws { throw TestFailure("disk full") }
}

/// A store whose save waits for a gate.
struct GatedSnapshotStore: KeySetSnapshotStore {
    let gate: Gate

    func load() async throws -> KeySetSnapshot? { nil }

    func save(_ snapshot: KeySetSnapshot) async throws { try await gate.pass() }
}

/// A store whose calls hang and ignore cancellation until its gate opens.
struct HangingSnapshotStore: KeySetSnapshotStore {
    let gate: Gate

    func load() async throws -> KeySetSnapshot? {
        // An unstructured task is not cancelled with its caller.
        await Task { try? await gate.pass() }.value
        return nil
    }

    func save(_ snapshot: KeySetSnapshot) async throws {}
}

/// A store whose cancelled save ends late.
final class LingeringSnapshotStore: KeySetSnapshotStore {
    let gate = Gate()
    let hasEnded = Mutex(false)

    func load() async throws -> KeySetSnapshot? { nil }

    func save(_ snapshot: KeySetSnapshot) async throws {
        try? await gate.pass()
        for _ in 0..<1000 { await Task.yield() }
        hasEnded.withLock { $0 = true }
    }
}

struct TestFailure: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

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
    init(bounds: KeySetBounds = KeySetBounds()) { state = KeySetState(bounds: bounds) }

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
        guard case .startFetch(let fetch) = nextRefresh(at: now) else { throw TestFailure("no fetch is due") }
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

    func lookUp(_ keyID: String, issuedAt: Int64? = nil, at now: Int64, waiters: Int = 0) -> LookUpAction {
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
    ) -> FinishAction { state.finish(fetch, with: outcome, at: now, jitter: jitter) }

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
