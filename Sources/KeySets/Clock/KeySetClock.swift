/// Wall-clock time for the key set, which has to outlive a restart: tests turn it by hand.
public protocol KeySetClock: Sendable {
    var millisecondsSince1970: Int64 { get }

    /// Returns at that moment or later, at once when it has passed. Throws only when the task is cancelled.
    func sleep(untilMilliseconds moment: Int64) async throws
}
