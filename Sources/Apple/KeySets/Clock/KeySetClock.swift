public import AppleIdentity

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
