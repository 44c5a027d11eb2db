import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import StrictJSON

/// The delivery plan for notifications, and the notifications that are not delivered yet.
struct OutboxRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.control(.get, "delivery-plan", "Shows how notifications are delivered.") { plan() }
        api.control(
            .put, "delivery-plan", "Sets how notifications are delivered: repeated, held, or retried.",
            example: ["copies": 2, "hold": true]
        ) { input throws(EmulatorError) in
            var plan = DeliveryPlan()
            if let copies = try input.integer("copies", in: 1...10) { plan.copies = Int(copies) }
            if let holds = try input.bool("hold") { plan.holds = holds }
            if let retries = try input.bool("retry") { plan.retries = retries }
            if let distance = try input.integer("first_retry_ms", in: 1...DeliveryPlan.longestRetryDistance) {
                plan.firstRetryMilliseconds = distance
            }
            return plan
        } use: { wanted in
            try state.setDeliveryPlan(wanted)
            return plan()
        }
        api.control(
            .get, "outbox", "Shows the notifications that wait, and recent deliveries; text: how many wait."
        ) { list() }
        api.control(.delete, "outbox", "Deletes the notifications that wait.") {
            state.forgetWaitingNotifications()
            return list()
        }
        api.control(
            .post, "outbox/release", "Posts the held notifications in any order.",
            example: ["order": "reversed"]
        ) { input throws(EmulatorError) in
            try input.word("order", ReleaseOrder.self) ?? .inOrder
        } use: { order in
            var sent: [SentNotification] = []
            for held in state.release(order) {
                sent.append(await post.send(held.notification, to: held.target))
            }
            return ControlResponse(
                json: JSONObject([("notifications", .array(sent.map { .object($0.json) }))]),
                text: sent.map(\.text).joined(separator: "\n"))
        }
    }

    private func plan() -> ControlResponse {
        let plan = state.deliveryPlan
        return ControlResponse(
            json: JSONObject([
                ("copies", .integer(Int64(plan.copies))), ("hold", .bool(plan.holds)),
                ("retry", .bool(plan.retries)), ("first_retry_ms", .integer(plan.firstRetryMilliseconds)),
            ]), text: "\(plan.copies)")
    }

    private func list() -> ControlResponse {
        let waiting = state.waitingNotifications
        return ControlResponse(
            json: JSONObject([
                ("waiting", .array(waiting.map { .object($0.json) })),
                ("recent", .array(state.recentDeliveries.map { .object($0.json) })),
            ]), text: String(waiting.count))
    }
}

extension WaitingNotification {
    var json: JSONObject {
        var json = JSONObject([
            ("type", .string(notification.type)), ("client_id", .string(notification.clientID)),
            ("payload", .string(notification.payload)), ("url", .string(target.url)),
            ("attempts", .integer(Int64(attempts))), ("held", .bool(isHeld)),
        ])
        json["next_attempt_at"] = nextAttemptAt.map { .string(RFC3339.text(milliseconds: $0)) }
        return json
    }
}

extension RecentDelivery {
    var json: JSONObject {
        JSONObject([
            ("type", .string(type)), ("client_id", .string(clientID)), ("outcome", .string(outcome)),
            ("posted_at", .string(RFC3339.text(milliseconds: postedAt))), ("sub", .string(subject)),
        ])
    }
}
