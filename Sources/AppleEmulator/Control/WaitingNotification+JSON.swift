import JOSE

extension WaitingNotification {
    var json: JSONObject {
        var json = JSONObject([
            ("type", .string(notification.type)), ("client_id", .string(notification.clientID)),
            ("payload", .string(notification.payload)), ("url", .string(target.url)),
            ("attempts", .integer(Int64(attempts))), ("held", .bool(isHeld)),
        ])
        json["next_attempt_at"] = nextAttemptAt.map { .integer($0 / 1000) }
        return json
    }
}

extension RecentDelivery {
    var json: JSONObject {
        JSONObject([
            ("type", .string(type)), ("client_id", .string(clientID)), ("outcome", .string(outcome)),
            ("posted_at", .integer(postedAt / 1000)),
        ])
    }
}
