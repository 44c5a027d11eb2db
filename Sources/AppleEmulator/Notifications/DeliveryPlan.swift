/// How the emulator delivers the notifications that follow from what people do. The default is what Apple promises.
public struct DeliveryPlan: Sendable, Equatable, Codable {
    /// How often each one is posted: the same payload, as Apple has been seen to do. 1 to 10.
    public var copies = 1
    /// Keeps them back until they are released, in any order.
    public var holds = false
    /// Posts again what got no 200, with growing distance.
    public var retries = true
    /// The distance to the first retry. It doubles up to `longestRetryDistance`.
    public var firstRetryMilliseconds: Int64 = 1000

    public static let longestRetryDistance: Int64 = 300_000
    /// How often one notification is posted before it is given up: about half an hour.
    public static let maximumAttempts = 15

    public init() {}

    /// When to try again after so many attempts, in milliseconds from the last one; `nil` gives up.
    func distance(afterAttempts attempts: Int) -> Int64? {
        guard retries, attempts < Self.maximumAttempts else { return nil }
        return min(firstRetryMilliseconds << Int64(max(0, attempts - 1)), Self.longestRetryDistance)
    }
}
