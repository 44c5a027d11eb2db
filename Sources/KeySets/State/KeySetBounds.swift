/// Every bound of the key-set cache, in milliseconds.
public struct KeySetBounds: Sendable, Equatable {
    /// A set is held at least so long, whatever its headers say: 5 minutes.
    public let shortestFreshness: Int64
    /// ... and at most so long before it is asked for again: 24 hours.
    public let longestFreshness: Int64
    /// When the headers say nothing, or forbid to keep it: 1 hour.
    public let defaultFreshness: Int64
    /// So long after its last confirmation the last good set still serves: 7 days.
    public let longestUse: Int64
    /// Unknown key IDs cause at most one fetch in this time, all together: 30 seconds.
    public let lookUpCooldown: Int64
    /// The first pause after a failed refresh while a set serves: 30 seconds. It doubles.
    public let retryDelayWithKeys: Int64
    /// The first pause after a failed fetch while nothing serves: 1 second. It doubles.
    public let retryDelayWithoutKeys: Int64
    /// Pauses double up to here: 5 minutes.
    public let longestRetryDelay: Int64
    /// A fetch that takes longer has failed: 20 seconds.
    public let longestFetch: Int64
    /// Before it, the snapshot store is waited for so long at most: 2 seconds.
    public let longestStoreLook: Int64
    /// The refresh loop looks at the clock at least so often, so that a clock that jumps is noticed: 1
    /// minute.
    public let longestSleep: Int64
    /// More callers than these never wait for a fetch together: 4096. The rest is told to come back.
    public let mostWaiters: Int

    /// All spans must be positive and in the order of the names; a mistake here is a programmer's.
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
        longestStoreLook: Int64 = 2_000,
        longestSleep: Int64 = 60_000,
        mostWaiters: Int = 4096
    ) {
        precondition(0 < shortestFreshness && shortestFreshness <= defaultFreshness)
        precondition(defaultFreshness <= longestFreshness && longestFreshness <= longestUse)
        precondition(0 < lookUpCooldown && 0 < longestFetch && 0 < longestSleep && 0 < mostWaiters)
        precondition(0 < longestStoreLook && longestStoreLook < longestFetch)
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
        self.longestStoreLook = longestStoreLook
        self.longestSleep = longestSleep
        self.mostWaiters = mostWaiters
    }
}
