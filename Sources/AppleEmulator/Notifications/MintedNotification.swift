/// A signed notification, ready to be delivered.
public struct MintedNotification: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The compact JWS, which is sent as the member `payload`.
    public let payload: String
}
