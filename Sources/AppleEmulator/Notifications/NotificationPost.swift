/// Decides where a notification goes, posts it and counts it.
struct NotificationPost: Sendable {
    let state: EmulatorState
    private let sender = NotificationSender()

    init(state: EmulatorState) {
        self.state = state
    }

    /// Reads `url` and `deliver`. `nil` means that the notification is only built: no receiver is known, or
    /// none is wanted. Throws `.notificationURLMissing` and `.notificationURLRefused`.
    func order(_ input: inout ControlInput) throws(EmulatorError) -> NotificationTarget? {
        let url = try input.string("url", maximum: 2048)
        let deliver = try input.bool("deliver")
        if deliver == false { return nil }
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

    func deliver(_ payload: String, to target: NotificationTarget) async -> Delivery {
        let delivery = await sender.deliver(payload, to: target)
        state.count(delivery)
        return delivery
    }
}
