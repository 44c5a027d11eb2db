/// How the emulator delivers notifications about account changes. The default is the behaviour that Apple
/// documents.
public struct DeliveryPlan: Sendable, Equatable, Codable {
    /// How often each notification is posted with the same payload, as Apple sometimes does. 1 to 10.
    public var copies = 1
    /// Whether notifications are held until they are released, in any order.
    public var holds = false
    /// Whether notifications without a 200 are posted again, with growing delays.
    public var retries = true
    /// The delay before the first retry. It doubles up to `longestRetryDistance`.
    public var firstRetryMilliseconds: Int64 = 1000

    public static let longestRetryDistance: Int64 = 300_000
    /// The number of attempts for one notification, over about half an hour.
    public static let maximumAttempts = 15

    public init() {}

    /// The delay before the next attempt in milliseconds; `nil` when there is none.
    func distance(afterAttempts attempts: Int) -> Int64? {
        guard retries, attempts < Self.maximumAttempts else { return nil }
        return min(firstRetryMilliseconds << Int64(max(0, attempts - 1)), Self.longestRetryDistance)
    }
}
