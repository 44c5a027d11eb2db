public import EmulatorServer
import Synchronization

extension EmulatorState {
    public var deliveryPlan: DeliveryPlan { world.withLock { $0.outbox.plan } }

    /// Sets the delivery plan. Throws `.memberMalformed` for a plan outside the limits.
    public func setDeliveryPlan(_ plan: DeliveryPlan) throws(EmulatorError) {
        guard (1...10).contains(plan.copies) else {
            throw EmulatorError(.memberMalformed, detail: "copies: an integer in 1...10")
        }
        guard (1...DeliveryPlan.longestRetryDistance).contains(plan.firstRetryMilliseconds) else {
            throw EmulatorError(
                .memberMalformed,
                detail: "first_retry_ms: an integer in 1...\(DeliveryPlan.longestRetryDistance)")
        }
        world.withLock { $0.outbox.plan = plan }
    }

    /// The notifications that no receiver has accepted yet.
    public var waitingNotifications: [WaitingNotification] { world.withLock { $0.outbox.waiting } }

    /// The latest deliveries of notifications about account changes, the newest last.
    public var recentDeliveries: [RecentDelivery] { world.withLock { $0.outbox.recent } }

    public func forgetWaitingNotifications() { world.withLock { $0.outbox.clear() } }

    func waiting(_ id: Int) -> WaitingNotification? { world.withLock { $0.outbox[id] } }

    func hold(_ notification: MintedNotification, for target: NotificationTarget) {
        world.withLock { $0.outbox.hold(notification, for: target) }
    }

    /// Schedules a retry, unless the delivery plan has no retries.
    func retry(_ notification: MintedNotification, to target: NotificationTarget) {
        let id = world.withLock { world in
            world.outbox.retry(notification, to: target, now: clock.now() + world.clockOffset)
        }
        if let id { retries.yield(id) }
    }

    func settle(_ id: Int, isTaken: Bool) {
        world.withLock { $0.outbox.settle(id, isTaken: isTaken, now: clock.now() + $0.clockOffset) }
    }

    func release(_ order: ReleaseOrder) -> [WaitingNotification] {
        world.withLock { $0.outbox.release(order) }
    }

    func note(_ notification: MintedNotification, _ delivery: Delivery) {
        world.withLock { world in
            world.outbox.note(
                RecentDelivery(
                    type: notification.type, clientID: notification.clientID, subject: notification.subject,
                    outcome: delivery.text,
                    postedAt: clock.now() + world.clockOffset))
        }
    }
}
