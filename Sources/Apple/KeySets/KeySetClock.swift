public import AppleIdentity

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The wall clock of the key set. Stored times must stay valid across a restart, so it is not a monotonic
/// clock. Tests set it by hand.
public protocol KeySetClock: Sendable {
    var millisecondsSince1970: Int64 { get }

    /// Returns at `moment` or later; returns at once when it has passed. Throws only when the task is
    /// cancelled.
    func sleep(untilMilliseconds moment: Int64) async throws
}

extension KeySetClock {
    /// The time in the unit of tokens.
    public var now: NumericDate {
        NumericDate(clampingSecondsSince1970: millisecondsSince1970 / 1000)
    }
}

/// The system's wall clock.
public struct SystemKeySetClock: KeySetClock {
    public init() {}

    public var millisecondsSince1970: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec).multipliedSaturating(by: 1000).addingSaturating(
            Int64(time.tv_nsec) / 1_000_000)
    }

    public func sleep(untilMilliseconds moment: Int64) async throws {
        let delay = moment.subtractingSaturating(millisecondsSince1970)
        guard delay > 0 else { return }
        // At most a year, so that the number of nanoseconds cannot overflow. No caller sleeps that long.
        try await Task.sleep(for: .milliseconds(min(delay, 31_536_000_000)))
    }
}
