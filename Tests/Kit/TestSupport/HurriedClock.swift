import Synchronization

/// A clock whose sleeps return at once. Each sleep moves it to its deadline.
public final class HurriedClock: Clock {
    public typealias Instant = ManualClock.Instant

    private let offset = Mutex(Duration.zero)

    public init() {}

    public var now: Instant { Instant(offset: slept) }
    public var minimumResolution: Duration { .zero }
    /// Sum of all sleeps.
    public var slept: Duration { offset.withLock { $0 } }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        offset.withLock { $0 = max($0, deadline.offset) }
    }
}
