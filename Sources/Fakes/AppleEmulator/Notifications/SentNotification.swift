import StrictJSON

/// A notification, and the result of posting it.
struct SentNotification {
    let notification: MintedNotification
    /// `nil` when it was not posted.
    let delivery: Delivery?
    /// The notification waits until it is released.
    var isHeld = false

    var json: JSONObject {
        var json = JSONObject([
            ("type", .string(notification.type)), ("client_id", .string(notification.clientID)),
            ("payload", .string(notification.payload)),
        ])
        if isHeld { json["held"] = .bool(true) }
        json["delivery"] = delivery.map { .object($0.json) }
        return json
    }

    /// The result of the delivery, or else the payload, for a caller that posts it itself.
    var text: String { delivery?.text ?? (isHeld ? "held" : notification.payload) }
}

/// A signed notification, ready to be delivered.
public struct MintedNotification: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The user's `sub` for the app's team.
    public let subject: String
    /// The compact JWS, which is sent as the member `payload`.
    public let payload: String
}
