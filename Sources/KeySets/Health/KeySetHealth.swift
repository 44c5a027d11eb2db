/// How a key set is doing. Holds no key, no URL and no text from outside: all of it may be shown.
public struct KeySetHealth: Sendable, Equatable {
    public enum Status: Sendable, Equatable {
        /// Usable and fresh, and the latest fetch worked.
        case ready
        /// Usable, so the service stays ready, but not confirmed: the latest fetch failed for this cause, or
        /// (`nil`) freshness ran out.
        case stale(KeySetFetchError.Code?)
        /// No token can be verified.
        case unavailable(KeySetFetchError.Code?)
    }

    public internal(set) var status: Status
    /// Keys that may verify at the moment.
    public internal(set) var keyCount: Int
    /// Entries of the set that must not verify anything.
    public internal(set) var skippedKeyCount = 0
    /// Since Apple last sent or confirmed the set, also when that was before a restart. In milliseconds.
    public internal(set) var age: Int64?
    /// All moments in milliseconds since 1970.
    public internal(set) var freshUntil: Int64?
    public internal(set) var usableUntil: Int64?
    public internal(set) var lastSuccessAt: Int64?
    public internal(set) var lastFailureAt: Int64?
    public internal(set) var lastFailure: KeySetFetchError.Code?
    public internal(set) var fetches = KeySetFetchCounters()
    /// Callers that wait for a fetch at the moment.
    public internal(set) var waiterCount = 0
    /// Failed loads and saves of the stored set.
    public internal(set) var snapshotFailures = 0

    public var isReady: Bool {
        switch status {
        case .ready, .stale: true
        case .unavailable: false
        }
    }

    /// For doubles of `VerificationKeys`, and sets that are not fetched.
    public init(status: Status, keyCount: Int) {
        self.status = status
        self.keyCount = keyCount
    }
}
