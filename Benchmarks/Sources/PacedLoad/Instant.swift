import Glibc

/// A time on the monotonic clock, which nobody can set, in nanoseconds.
struct Instant: Comparable {
    var nanoseconds: Int64

    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (earlier: Instant, later: Instant) -> Bool { earlier.nanoseconds < later.nanoseconds }
}
