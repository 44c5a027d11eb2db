/// A line of what was posted lately, for whoever watches.
public struct RecentDelivery: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The status that the receiver answered, or why it did not.
    public let outcome: String
    /// Milliseconds since 1970.
    public let postedAt: Int64
}
