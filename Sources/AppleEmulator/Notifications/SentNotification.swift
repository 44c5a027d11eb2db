import JOSE

/// A notification, and what became of it when it was posted.
struct SentNotification {
    let notification: MintedNotification
    /// `nil` when it was only built.
    let delivery: Delivery?

    var json: JSONObject {
        var json = JSONObject([
            ("type", .string(notification.type)), ("client_id", .string(notification.clientID)),
            ("payload", .string(notification.payload)),
        ])
        json["delivery"] = delivery.map { .object($0.json) }
        return json
    }

    /// What the receiver said, or else the payload, for a caller that posts it itself.
    var text: String { delivery?.text ?? notification.payload }
}
