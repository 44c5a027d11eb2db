import EmulatorServer

/// Chooses the receiver for a notification, posts the notification, and counts it.
struct NotificationDispatcher: Sendable {
    let state: EmulatorState
    private let sender = NotificationSender()

    init(state: EmulatorState) {
        self.state = state
    }

    /// Reads `url` and `deliver`. Returns `nil` if the notification must not be posted, because there is no
    /// receiver or `deliver` is false. Throws `.notificationURLMissing` and `.notificationURLRefused`.
    func order(_ input: inout ControlInput) throws(EmulatorError) -> NotificationTarget? {
        let url = try input.string("url", maximum: 2048)
        let deliver = try input.bool("deliver")
        if deliver == false {
            guard url == nil else {
                throw EmulatorError(.memberIneffective, detail: "url: has no effect when deliver is false")
            }
            return nil
        }
        if let url { return try NotificationTarget(url, allowedHosts: state.allowedHosts) }
        if let target = state.notificationTarget { return target }
        if deliver == true { throw EmulatorError(.notificationURLMissing) }
        return nil
    }

    func carryOut(_ target: NotificationTarget?, _ notification: MintedNotification) async -> SentNotification
    {
        guard let target else { return SentNotification(notification: notification, delivery: nil) }
        let delivery = await deliver(notification.payload, to: target)
        return SentNotification(notification: notification, delivery: delivery)
    }

    /// Notifies an app about an account change, according to the delivery plan. The result contains the first
    /// copy's delivery.
    func announce(_ notification: MintedNotification, to target: NotificationTarget?) async
        -> SentNotification
    {
        guard let target else { return SentNotification(notification: notification, delivery: nil) }
        guard !state.deliveryPlan.holds else {
            state.hold(notification, for: target)
            return SentNotification(notification: notification, delivery: nil, isHeld: true)
        }
        return await send(notification, to: target)
    }

    /// Posts all copies, and schedules a retry for each copy that was not accepted.
    func send(_ notification: MintedNotification, to target: NotificationTarget) async -> SentNotification {
        var first: Delivery?
        for _ in 0..<state.deliveryPlan.copies {
            let delivery = await deliver(notification.payload, to: target)
            state.note(notification, delivery)
            if !delivery.isTaken { state.retry(notification, to: target) }
            first = first ?? delivery
        }
        return SentNotification(notification: notification, delivery: first)
    }

    func deliver(_ payload: String, to target: NotificationTarget) async -> Delivery {
        let start = state.exchangeStart
        let fault = state.beginRequest(on: .notifications)
        if let delay = fault?.delayMilliseconds, delay > 0 { try? await state.clock.sleep(delay) }
        let delivery: Delivery
        if fault?.works == false {
            delivery = Delivery(url: target.url, outcome: .failed(.connectionFailed))
        } else {
            let honest = await sender.deliver(payload, to: target)
            // The receiver has accepted the notification, but its response is lost, so Apple posts the
            // notification again.
            delivery =
                fault?.cut == nil
                ? honest
                : Delivery(
                    url: target.url, outcome: .failed(.responseBroken), requestID: honest.requestID)
        }
        state.count(delivery)
        state.record(
            .appleNotification, "Send a notification",
            request: "POST \(target.url)\n\n\(ShownText.token(payload) ?? "no token")",
            response: delivery.shown, status: delivery.status, since: start,
            requestID: delivery.requestID)
        return delivery
    }
}

/// Retries notifications that receivers did not accept. Each notification has its own task, so a slow
/// receiver does not delay the others.
struct NotificationRetries: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    /// Runs until the task is cancelled. Must be called once.
    func run() async {
        await withDiscardingTaskGroup { group in
            // These notifications were already waiting when the state file was written.
            for waiting in state.waitingNotifications where !waiting.isHeld {
                group.addTask { await keepTrying(waiting.id) }
            }
            for await id in state.awaitedRetries { group.addTask { await keepTrying(id) } }
        }
    }

    private func keepTrying(_ id: Int) async {
        while !Task.isCancelled, let waiting = state.waiting(id), let moment = waiting.nextAttemptAt {
            // Attempts the delivery as soon as the sleep returns, without reading the clock again, because a
            // test clock that does not advance would otherwise cause a busy loop.
            guard (try? await state.clock.sleep(max(0, moment - state.now))) != nil else { return }
            // A reset or a cleared outbox can have removed it.
            guard state.waiting(id) != nil else { return }
            let delivery = await post.deliver(waiting.notification.payload, to: waiting.target)
            state.note(waiting.notification, delivery)
            state.settle(id, isTaken: delivery.isTaken)
        }
    }
}
