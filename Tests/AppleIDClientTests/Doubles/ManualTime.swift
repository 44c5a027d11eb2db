import Synchronization

/// Clocks that tests turn by hand.
final class ManualTime: Sendable {
    private let seconds: Mutex<Int64>

    init(_ seconds: Int64 = 1_700_000_000) { self.seconds = Mutex(seconds) }

    var now: Int64 {
        get { seconds.withLock { $0 } }
        set { seconds.withLock { $0 = newValue } }
    }

    var secondsSince1970: @Sendable () -> Int64 { { self.now } }
    var uptime: @Sendable () -> Duration { { .seconds(self.now) } }
}
