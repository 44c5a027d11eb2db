import HTTPTypes
import Hummingbird
import StrictJSON

/// The delivery plan of notifications, and the notifications that are not delivered yet.
struct OutboxRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationPost

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "delivery-plan") { call in plan() }
        group.control(.put, "delivery-plan") { call in
            try state.setDeliveryPlan(
                call.input { input throws(EmulatorError) in
                    var plan = DeliveryPlan()
                    if let copies = try input.integer("copies", in: 1...10) { plan.copies = Int(copies) }
                    if let holds = try input.bool("hold") { plan.holds = holds }
                    if let retries = try input.bool("retry") { plan.retries = retries }
                    if let distance = try input.integer("first_retry_ms") {
                        plan.firstRetryMilliseconds = distance
                    }
                    return plan
                })
            return plan()
        }
        group.control(.get, "outbox") { call in list() }
        group.control(.delete, "outbox") { call in
            state.forgetWaitingNotifications()
            return list()
        }
        group.control(.post, "outbox/release") { call in
            let order = try call.input { input throws(EmulatorError) in
                try input.word("order", ReleaseOrder.self) ?? .inOrder
            }
            var sent: [SentNotification] = []
            for held in state.release(order) {
                sent.append(await post.send(held.notification, to: held.target))
            }
            return ControlAnswer(
                json: JSONObject([("notifications", .array(sent.map { .object($0.json) }))]),
                text: sent.map(\.text).joined(separator: "\n"))
        }
    }

    private func plan() -> ControlAnswer {
        let plan = state.deliveryPlan
        return ControlAnswer(
            json: JSONObject([
                ("copies", .integer(Int64(plan.copies))), ("hold", .bool(plan.holds)),
                ("retry", .bool(plan.retries)), ("first_retry_ms", .integer(plan.firstRetryMilliseconds)),
            ]), text: "\(plan.copies)")
    }

    private func list() -> ControlAnswer {
        let waiting = state.waitingNotifications
        return ControlAnswer(
            json: JSONObject([
                ("waiting", .array(waiting.map { .object($0.json) })),
                ("recent", .array(state.recentDeliveries.map { .object($0.json) })),
            ]), text: String(waiting.count))
    }
}
