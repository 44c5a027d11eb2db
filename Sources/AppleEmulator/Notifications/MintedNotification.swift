/// A signed notification, ready to be delivered.
public struct MintedNotification: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The compact JWS that goes into the body's `payload`.
    public let payload: String
}
