import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
public import StrictJSON

/// The delivery plan for notifications, and the notifications that are not delivered yet.
struct OutboxRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "delivery-plan", "Shows how notifications are delivered.") { plan() }
        api.add(
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
        api.add(
            .get, "outbox", "Shows the notifications that wait, and recent deliveries; text: how many wait."
        ) { list() }
        api.add(.delete, "outbox", "Deletes the notifications that wait.") {
            state.forgetWaitingNotifications()
            return list()
        }
        api.add(
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
                ReleasedNotifications(notifications: sent),
                text: sent.map(\.text).joined(separator: "\n"))
        }
    }

    private func plan() -> ControlResponse<DeliveryPlan> {
        let plan = state.deliveryPlan
        return ControlResponse(plan, text: "\(plan.copies)")
    }

    private func list() -> ControlResponse<OutboxContent> {
        let content = OutboxContent(waiting: state.waitingNotifications, recent: state.recentDeliveries)
        return ControlResponse(content, text: String(content.waiting.count))
    }
}

extension DeliveryPlan: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("copies", "How often each notification is posted.") { $0.copies }
        member("hold", "True if notifications wait until they are released.") { $0.holds }
        member("retry", "True if a notification is posted again until the status is 200.") { $0.retries }
        member("first_retry_ms") { $0.firstRetryMilliseconds }
    }
}

private struct ReleasedNotifications: JSONBody {
    let notifications: [SentNotification]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("notifications") { $0.notifications }
    }
}

private struct OutboxContent: JSONBody {
    let waiting: [WaitingNotification]
    let recent: [RecentDelivery]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("waiting") { $0.waiting }
        member("recent", "The latest deliveries, the oldest first.") { $0.recent }
    }
}

extension WaitingNotification: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("type") { $0.notification.type }
        member("client_id") { $0.notification.clientID }
        member("payload", "The signed notification.") { $0.notification.payload }
        member("url") { $0.target.url }
        member("attempts") { $0.attempts }
        member("held") { $0.isHeld }
        member("next_attempt_at", ["format": "date-time"]) {
            $0.nextAttemptAt.map { RFC3339.text(milliseconds: $0) }
        }
    }
}

extension RecentDelivery: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("type") { $0.type }
        member("client_id") { $0.clientID }
        member("outcome", "The receiver's status, or the failure.") { $0.outcome }
        member("posted_at", ["format": "date-time"]) { RFC3339.text(milliseconds: $0.postedAt) }
        member("sub") { $0.subject }
    }
}
