public import EmulatorServer
import Synchronization

/// The notifications that receivers have not accepted yet, and the latest deliveries. It posts nothing
/// itself.
struct Outbox: Codable {
    /// Maximum number of waiting notifications. A full outbox drops its oldest entry, so that an unreachable
    /// receiver cannot fill the memory.
    static let capacity = 1000
    static let recentCapacity = 20

    var plan = DeliveryPlan()
    private(set) var waiting: [WaitingNotification] = []
    private(set) var recent: [RecentDelivery] = []
    private var lastID = 0

    subscript(id: Int) -> WaitingNotification? { waiting.first { $0.id == id } }

    mutating func hold(_ notification: MintedNotification, for target: NotificationTarget) {
        _ = add(notification, target, attempts: 0, nextAttemptAt: nil)
    }

    /// Adds a notification whose first delivery was not accepted. Returns `nil` if the plan has no retries.
    mutating func retry(_ notification: MintedNotification, to target: NotificationTarget, now: Int64) -> Int?
    {
        guard let distance = plan.distance(afterAttempts: 1) else { return nil }
        return add(notification, target, attempts: 1, nextAttemptAt: now + distance)
    }

    /// Records an attempt's outcome: accepted, to be retried, or given up.
    mutating func settle(_ id: Int, isTaken: Bool, now: Int64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting[index].attempts += 1
        if !isTaken, let distance = plan.distance(afterAttempts: waiting[index].attempts) {
            waiting[index].nextAttemptAt = now + distance
        } else {
            waiting.remove(at: index)
        }
    }

    /// Removes and returns the held notifications.
    mutating func release(_ order: ReleaseOrder) -> [WaitingNotification] {
        let held = waiting.filter(\.isHeld)
        waiting.removeAll(where: \.isHeld)
        return switch order {
        case .inOrder: held
        case .reversed: held.reversed()
        case .shuffled: held.shuffled()
        }
    }

    mutating func clear() { waiting = [] }

    /// The outbox of the world after a reset. It gives no ID again, because retries that are asleep find their
    /// notification by its ID.
    var successor: Outbox {
        var outbox = Outbox()
        outbox.lastID = lastID
        return outbox
    }

    mutating func note(_ delivery: RecentDelivery) {
        recent.append(delivery)
        if recent.count > Self.recentCapacity { recent.removeFirst() }
    }

    private mutating func add(
        _ notification: MintedNotification, _ target: NotificationTarget, attempts: Int, nextAttemptAt: Int64?
    ) -> Int {
        lastID += 1
        if waiting.count >= Self.capacity { waiting.removeFirst() }
        waiting.append(
            WaitingNotification(
                id: lastID, notification: notification, target: target, attempts: attempts,
                nextAttemptAt: nextAttemptAt))
        return lastID
    }
}

/// A notification that the receiver has not accepted yet, either held or waiting for a retry.
public struct WaitingNotification: Sendable, Equatable, Codable {
    public let id: Int
    public let notification: MintedNotification
    public let target: NotificationTarget
    /// Number of attempts so far.
    public internal(set) var attempts: Int
    /// Time of the next attempt in milliseconds since 1970; `nil` for a held notification.
    public internal(set) var nextAttemptAt: Int64?

    public var isHeld: Bool { nextAttemptAt == nil }
}

/// A recent delivery, for display.
public struct RecentDelivery: Sendable, Equatable, Codable {
    public let type: String
    public let clientID: String
    /// The user's `sub` for the app's team.
    public let subject: String
    /// The response status, or the failure.
    public let outcome: String
    /// Delivery time in milliseconds since 1970.
    public let postedAt: Int64
}

/// The order in which held notifications are released.
public enum ReleaseOrder: String, Sendable, CaseIterable {
    case inOrder = "in_order"
    /// Releases the last event first, so a receiver that relies on the arrival order ends up in the wrong
    /// state.
    case reversed
    case shuffled
}

extension EmulatorState {
    public var deliveryPlan: DeliveryPlan { world.withLock { $0.outbox.plan } }

    /// Sets the delivery plan. Throws `.memberMalformed` for a plan that exceeds the limits.
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

    /// The latest deliveries of notifications about account changes, newest last.
    public var recentDeliveries: [RecentDelivery] { world.withLock { $0.outbox.recent } }

    public func forgetWaitingNotifications() { world.withLock { $0.outbox.clear() } }

    func waiting(_ id: Int) -> WaitingNotification? { world.withLock { $0.outbox[id] } }

    func hold(_ notification: MintedNotification, for target: NotificationTarget) {
        world.withLock { $0.outbox.hold(notification, for: target) }
    }

    /// Schedules a retry, unless the delivery plan allows none.
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
