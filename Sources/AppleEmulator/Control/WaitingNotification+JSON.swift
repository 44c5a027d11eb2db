import StrictJSON

extension WaitingNotification {
    var json: JSONObject {
        var json = JSONObject([
            ("type", .string(notification.type)), ("client_id", .string(notification.clientID)),
            ("payload", .string(notification.payload)), ("url", .string(target.url)),
            ("attempts", .integer(Int64(attempts))), ("held", .bool(isHeld)),
        ])
        json["next_attempt_at"] = nextAttemptAt.map { .string(EmulatorClock.text(of: $0)) }
        return json
    }
}

extension RecentDelivery {
    var json: JSONObject {
        JSONObject([
            ("type", .string(type)), ("client_id", .string(clientID)), ("outcome", .string(outcome)),
            ("posted_at", .string(EmulatorClock.text(of: postedAt))),
        ])
    }
}
