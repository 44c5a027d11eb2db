/// An event of a notification in the inbox, with the payload as it came.
public struct KeptPayload: Sendable, Hashable {
    /// The primary client ID of the app.
    public let clientID: ClientID
    /// Apple's word for the type.
    public let type: String
    /// Apple's `event_time`.
    public let moment: Moment
    /// By our clock.
    public let receivedAt: Moment
    /// The signed payload of the whole notification.
    public let payload: String

    public init(clientID: ClientID, type: String, moment: Moment, receivedAt: Moment, payload: String) {
        self.clientID = clientID
        self.type = type
        self.moment = moment
        self.receivedAt = receivedAt
        self.payload = payload
    }
}
