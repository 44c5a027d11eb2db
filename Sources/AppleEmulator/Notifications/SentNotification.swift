import StrictJSON

/// A notification, and what became of it when it was posted.
struct SentNotification {
    let notification: MintedNotification
    /// `nil` when it was only built.
    let delivery: Delivery?
    /// Whether it waits to be released.
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

    /// What the receiver said, or else the payload, for a caller that posts it itself.
    var text: String { delivery?.text ?? (isHeld ? "held" : notification.payload) }
}
