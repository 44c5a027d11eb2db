import Synchronization

/// A clock on which every sleep is over at once, and which says how much was slept.
final class HurriedClock: Clock {
    typealias Instant = ManualClock.Instant

    private let offset = Mutex(Duration.zero)

    var now: Instant { Instant(offset: slept) }
    var minimumResolution: Duration { .zero }
    var slept: Duration { offset.withLock { $0 } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        offset.withLock { $0 = max($0, deadline.offset) }
    }
}
