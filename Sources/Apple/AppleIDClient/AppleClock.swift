import Encodings
import Synchronization

/// Apple's time, from the `Date` header of Apple's responses, and its difference from this machine's clock.
///
/// Between two responses, Apple's time advances with this machine's
/// uptime, so a change to the machine's clock immediately changes the difference.
public final class AppleClock: Sendable {
    private struct Reading {
        /// Apple's time in milliseconds since 1970.
        let time: Int64
        let uptime: Duration
    }

    private let reading = Mutex<Reading?>(nil)
    private let millisecondsSince1970: @Sendable () -> Int64
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - millisecondsSince1970: This machine's clock.
    ///   - uptime: A monotonic clock.
    public init(
        millisecondsSince1970: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration = SystemUptime.elapsed
    ) {
        (self.millisecondsSince1970, self.uptime) = (millisecondsSince1970, uptime)
    }

    /// Number of seconds that this machine's clock is ahead of Apple's; `nil` before the first response. The
    /// `Date` header has whole seconds and the transfer takes time, so a difference of one or two seconds is
    /// meaningless.
    public var secondsAhead: Int64? {
        guard let reading = reading.withLock({ $0 }) else { return nil }
        let passed = (uptime() - reading.uptime).milliseconds
        let (apple, overflowed) = reading.time.addingReportingOverflow(passed)
        let (ahead, isTooFar) = millisecondsSince1970().subtractingReportingOverflow(apple)
        return overflowed || isTooFar ? nil : ahead / 1000
    }

    /// Reads the `Date` and `Age` headers of a response that has just arrived. A cached response is `age`
    /// seconds old (RFC 9111 §5.1).
    func notice(date: String?, age: String?) {
        guard let date, let seconds = HTTPDate.seconds(date) else { return }
        let age = age.flatMap { Int64($0) }.flatMap { (0...604_800).contains($0) ? $0 : nil } ?? 0
        let reading = Reading(time: (seconds + age) * 1000, uptime: uptime())
        self.reading.withLock { $0 = reading }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

/// Time since the first call in the process, measured with a monotonic clock.
public enum SystemUptime {
    private static let start = ContinuousClock.now

    public static let elapsed: @Sendable () -> Duration = { start.duration(to: .now) }
}
