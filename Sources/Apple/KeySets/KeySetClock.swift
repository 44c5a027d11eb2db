public import AppleIdentity

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The key set's wall clock. It is not monotonic, because stored
/// times must stay valid across a restart. Tests control the time.
public protocol KeySetClock: Sendable {
    var millisecondsSince1970: Int64 { get }

    /// Returns at `moment` or later; immediately if it has passed. Throws only if the task is cancelled.
    func sleep(untilMilliseconds moment: Int64) async throws
}

extension KeySetClock {
    /// The time as a `NumericDate`, the type used for times in tokens.
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
        // Limits a sleep to a year, so that the number of nanoseconds cannot overflow. No caller sleeps that
        // long.
        try await Task.sleep(for: .milliseconds(min(delay, 31_536_000_000)))
    }
}
