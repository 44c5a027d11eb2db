import JOSE

/// The health of a key set. Contains no key, no URL and no text from outside, so all of it may be shown.
public struct KeySetHealth: Sendable, Equatable {
    public enum Status: Sendable, Equatable {
        /// Usable and fresh, and the latest fetch succeeded.
        case ready
        /// Usable, so the service stays ready, but not fresh: the latest fetch failed for this reason, or
        /// (`nil`) the set has expired and has not been fetched again yet.
        case stale(KeySetFetchError.Code?)
        /// No token can be verified.
        case unavailable(KeySetFetchError.Code?)
    }

    public internal(set) var status: Status
    /// The number of keys that may be used for verification now.
    public internal(set) var keyCount: Int
    /// The number of entries of the set that cannot be used.
    public internal(set) var skippedKeyCount = 0
    /// Milliseconds since Apple last sent or confirmed the set. A restart does not reset it.
    public internal(set) var age: Int64?
    /// This and the following times are in milliseconds since 1970.
    public internal(set) var freshUntil: Int64?
    public internal(set) var usableUntil: Int64?
    public internal(set) var lastSuccessAt: Int64?
    public internal(set) var lastFailureAt: Int64?
    public internal(set) var lastFailure: KeySetFetchError.Code?
    /// The status of the last response; `nil` when the last request got no response.
    public internal(set) var lastStatus: Int?
    /// The time of the next fetch; `nil` when it begins with the next token.
    public internal(set) var nextFetchAt: Int64?
    public internal(set) var fetches = KeySetFetchCounters()
    /// The number of callers that wait for a fetch now.
    public internal(set) var waiterCount = 0
    /// The number of failed loads and saves of the stored set.
    public internal(set) var snapshotFailures = 0

    public var isReady: Bool {
        switch status {
        case .ready, .stale: true
        case .unavailable: false
        }
    }

    /// Creates the health of a set that is not fetched, or of a test double of `VerificationKeys`.
    public init(status: Status, keyCount: Int) {
        self.status = status
        self.keyCount = keyCount
    }
}

/// The number of fetches by result, since the process started.
public struct KeySetFetchCounters: Sendable, Equatable {
    /// A new set was received.
    public internal(set) var replaced = 0
    /// 304: the cached set is still current.
    public internal(set) var confirmed = 0
    /// No request was sent to Apple, because another process had just stored a set.
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

    /// Counts a failed load or save of the stored set. The keys in memory stay in use.
    package mutating func noteSnapshotFailure() {
        record.snapshotFailures &+= 1
    }

    /// Notes the status of a response; `nil` for a request without a response.
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
