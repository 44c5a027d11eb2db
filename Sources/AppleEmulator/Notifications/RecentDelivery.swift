/// A recent delivery, for display.
public struct RecentDelivery: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The status of the response, or the failure.
    public let outcome: String
    /// Milliseconds since 1970.
    public let postedAt: Int64
}
