/// All limits of the key-set cache, in milliseconds.
public struct KeySetBounds: Sendable, Equatable {
    /// The shortest time for which a set counts as fresh, even if its headers say less: 5 minutes.
    public let shortestFreshness: Int64
    /// The longest time for which a set counts as fresh: 24 hours.
    public let longestFreshness: Int64
    /// The freshness when the headers do not state it or forbid caching: 1 hour.
    public let defaultFreshness: Int64
    /// Duration for which the last good set may be used after its last confirmation: 7 days.
    public let longestUse: Int64
    /// All unknown key IDs together cause at most one fetch in this time: 30 seconds.
    public let lookUpCooldown: Int64
    /// The first retry delay while there is a usable set: 30 seconds. It doubles with each failure.
    public let retryDelayWithKeys: Int64
    /// The first retry delay while there is no usable set: 1 second. It doubles with each failure.
    public let retryDelayWithoutKeys: Int64
    /// The longest retry delay: 5 minutes.
    public let longestRetryDelay: Int64
    /// The time limit of a fetch: 20 seconds.
    public let longestFetch: Int64
    /// The time limit of the load from the snapshot store before a fetch: 2 seconds.
    public let longestSnapshotLoad: Int64
    /// The refresh loop reads the clock at least this often, so that
    /// it notices a change of the clock: 1 minute.
    public let longestSleep: Int64
    /// The largest number of callers that wait for a fetch, and of key IDs that are remembered as not found:
    /// 4096. Further callers get `.keysUnavailable`.
    public let mostWaiters: Int

    /// All durations must be positive, and each `shortest` at most its `longest`. A violation is a
    /// programming error.
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

// Times and durations are milliseconds that come from headers, a stored snapshot or a wrong clock and can
// have any value. An overflow would end the process, so all arithmetic on them saturates.
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
