/// The key-set cache's limits, in milliseconds.
public struct KeySetBounds: Sendable, Equatable {
    /// Minimum time that a set is considered fresh, even if its headers state a shorter time: 5 minutes.
    public let shortestFreshness: Int64
    /// Maximum time that a set is considered fresh: 24 hours.
    public let longestFreshness: Int64
    /// Freshness to assume if the headers do not state it or forbid caching: 1 hour.
    public let defaultFreshness: Int64
    /// Maximum time that the last good set is used after its last confirmation: 7 days.
    public let longestUse: Int64
    /// Time within which all unknown key IDs together cause at most one fetch: 30 seconds.
    public let lookUpCooldown: Int64
    /// First retry delay with a usable set: 30 seconds. It doubles with each failure.
    public let retryDelayWithKeys: Int64
    /// First retry delay without a usable set: 1 second. It doubles with each failure.
    public let retryDelayWithoutKeys: Int64
    /// Maximum retry delay: 5 minutes.
    public let longestRetryDelay: Int64
    /// Time limit for a fetch: 20 seconds.
    public let longestFetch: Int64
    /// Time limit for loading from the snapshot store before a fetch: 2 seconds.
    public let longestSnapshotLoad: Int64
    /// Maximum sleep of the refresh loop, so that it notices clock changes: 1 minute.
    public let longestSleep: Int64
    /// Maximum number of callers that wait for a fetch, and of key IDs that are remembered as not found:
    /// 4096. Further callers get `.keysUnavailable`.
    public let mostWaiters: Int

    /// Creates the limits. Durations must be positive, and no `shortest` may exceed its `longest`; any other
    /// value is a programming error.
    public init(
        shortestFreshness: Int64 = 300_000,
        longestFreshness: Int64 = 86_400_000,
        defaultFreshness: Int64 = 3_600_000,
        longestUse: Int64 = 604_800_000,
        lookUpCooldown: Int64 = 30_000,
        retryDelayWithKeys: Int64 = 30_000,
        retryDelayWithoutKeys: Int64 = 1_000,
        longestRetryDelay: Int64 = 300_000,
        longestFetch: Int64 = 20_000,
        longestSnapshotLoad: Int64 = 2_000,
        longestSleep: Int64 = 60_000,
        mostWaiters: Int = 4096
    ) {
        precondition(0 < shortestFreshness && shortestFreshness <= defaultFreshness)
        precondition(defaultFreshness <= longestFreshness && longestFreshness <= longestUse)
        precondition(0 < lookUpCooldown && 0 < longestFetch && 0 < longestSleep && 0 < mostWaiters)
        precondition(0 < longestSnapshotLoad && longestSnapshotLoad < longestFetch)
        precondition(0 < retryDelayWithoutKeys && retryDelayWithoutKeys <= longestRetryDelay)
        precondition(0 < retryDelayWithKeys && retryDelayWithKeys <= longestRetryDelay)
        self.shortestFreshness = shortestFreshness
        self.longestFreshness = longestFreshness
        self.defaultFreshness = defaultFreshness
        self.longestUse = longestUse
        self.lookUpCooldown = lookUpCooldown
        self.retryDelayWithKeys = retryDelayWithKeys
        self.retryDelayWithoutKeys = retryDelayWithoutKeys
        self.longestRetryDelay = longestRetryDelay
        self.longestFetch = longestFetch
        self.longestSnapshotLoad = longestSnapshotLoad
        self.longestSleep = longestSleep
        self.mostWaiters = mostWaiters
    }
}

// Times and durations are in milliseconds. They come from headers, a stored snapshot or a wrong clock, so
// they can have any value. An overflow would crash the process, so all arithmetic on them saturates.
extension Int64 {
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other > 0 ? .max : .min
    }

    func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other > 0 ? .min : .max
    }

    func multipliedSaturating(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }

    func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
