/// The notifications that receivers have not taken yet, and the latest that were posted. Pure: the courier posts.
struct Outbox: Codable {
    /// A receiver that is down for good must not fill the memory: past this the oldest is forgotten.
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

    /// Takes one up that was posted once and not taken; `nil` when the plan does not try again.
    mutating func retry(_ notification: MintedNotification, to target: NotificationTarget, now: Int64) -> Int?
    {
        guard let distance = plan.distance(afterAttempts: 1) else { return nil }
        return add(notification, target, attempts: 1, nextAttemptAt: now + distance)
    }

    /// Notes what became of another attempt: taken, to be tried again, or given up.
    mutating func settle(_ id: Int, isTaken: Bool, now: Int64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting[index].attempts += 1
        if !isTaken, let distance = plan.distance(afterAttempts: waiting[index].attempts) {
            waiting[index].nextAttemptAt = now + distance
        } else {
            waiting.remove(at: index)
        }
    }

    /// Takes out what was kept back.
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
