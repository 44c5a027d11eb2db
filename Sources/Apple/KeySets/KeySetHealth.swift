import JOSE

/// A key set's health. It contains no key, no URL and no external text, so a service may show all of it.
public struct KeySetHealth: Sendable, Equatable {
    public enum Status: Sendable, Equatable {
        /// The set is usable and fresh, and the latest fetch succeeded.
        case ready
        /// The set is usable, so the service stays ready, but it is not fresh: the latest fetch failed for
        /// this reason or, if `nil`, the set has expired and no fetch has run since.
        case stale(KeySetFetchError.Code?)
        /// The service cannot verify tokens.
        case unavailable(KeySetFetchError.Code?)
    }

    public internal(set) var status: Status
    /// Number of keys that can be used for verification now.
    public internal(set) var keyCount: Int
    /// Number of unusable entries in the set.
    public internal(set) var skippedKeyCount = 0
    /// Milliseconds since Apple last sent or confirmed the set. A restart does not reset this age.
    public internal(set) var age: Int64?
    /// Time until which the set is fresh. This and all following times are in milliseconds since 1970.
    public internal(set) var freshUntil: Int64?
    public internal(set) var usableUntil: Int64?
    public internal(set) var lastSuccessAt: Int64?
    public internal(set) var lastFailureAt: Int64?
    public internal(set) var lastFailure: KeySetFetchError.Code?
    /// HTTP status of the last response; `nil` if the last request got no response.
    public internal(set) var lastStatus: Int?
    /// Time of the next fetch; `nil` if the next token triggers it.
    public internal(set) var nextFetchAt: Int64?
    public internal(set) var fetches = KeySetFetchCounters()
    /// Number of callers that are waiting for a fetch.
    public internal(set) var waiterCount = 0
    /// Number of times that loading or saving the stored set failed.
    public internal(set) var snapshotFailures = 0

    public var isReady: Bool {
        switch status {
        case .ready, .stale: true
        case .unavailable: false
        }
    }

    /// Creates the health for a set that never fetches, or for a test double of `VerificationKeys`.
    public init(status: Status, keyCount: Int) {
        self.status = status
        self.keyCount = keyCount
    }
}

/// Fetch counts by result, since the process started.
public struct KeySetFetchCounters: Sendable, Equatable {
    /// Fetches that received a new set.
    public internal(set) var replaced = 0
    /// Fetches that received a 304, which means that the cached set is still current.
    public internal(set) var confirmed = 0
    /// Fetches that sent no request to Apple, because another process had just stored a set.
    public internal(set) var adopted = 0
    public internal(set) var failed: [KeySetFetchError.Code: Int] = [:]

    public init() {}
}

extension KeySetState {
    package func health(at now: Int64) -> KeySetHealth {
        let isUsable = hasUsableKeys(at: now)
        var health = KeySetHealth(
            status: status(at: now), keyCount: isUsable ? held?.received.keys.count ?? 0 : 0)
        if let held {
            health.skippedKeyCount = held.received.keys.skipped.count
            health.age = max(0, now.subtractingSaturating(held.fetchedAt))
            health.freshUntil = held.freshUntil
            health.usableUntil = held.fetchedAt.addingSaturating(bounds.longestUse)
        }
        health.lastSuccessAt = record.lastSuccessAt
        health.lastFailureAt = record.lastFailureAt
        health.lastFailure = record.lastFailure
        health.lastStatus = record.lastStatus
        let next = [nextFetchAt, lookUpFetchAt?.addingSaturating(bounds.lookUpCooldown)]
        health.nextFetchAt = next.compactMap { $0 }.filter { $0 > now }.min()
        health.fetches = record.fetches
        health.snapshotFailures = record.snapshotFailures
        return health
    }

    /// Counts a failed load or save of the stored set. The cache keeps its keys.
    package mutating func noteSnapshotFailure() {
        record.snapshotFailures &+= 1
    }

    /// Records a response status; `nil` if the request got no response.
    package mutating func noteStatus(_ status: Int?) { record.lastStatus = status }

    private func status(at now: Int64) -> KeySetHealth.Status {
        let cause = failures > 0 ? record.lastFailure : nil
        guard let held, hasUsableKeys(at: now) else { return .unavailable(cause) }
        return failures > 0 || now >= held.freshUntil ? .stale(cause) : .ready
    }
}

/// The history that `KeySetHealth` reports. No decision depends on it.
struct KeySetRecord: Sendable {
    var fetches = KeySetFetchCounters()
    var lastSuccessAt: Int64?
    var lastFailureAt: Int64?
    var lastFailure: KeySetFetchError.Code?
    var lastStatus: Int?
    var snapshotFailures = 0
}
