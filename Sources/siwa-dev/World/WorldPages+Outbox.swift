import AppleEmulator
import Console
import Encodings

extension WorldPages {
    var outboxPages: [ConsolePage] {
        let path = WorldTabs.Place.notifications.rawValue
        return [
            ConsolePage(.get, path, access: .development) { request in
                .template(
                    "world-notifications", title: "Notifications",
                    values: OutboxValues(request, world), isLive: true)
            },
            ConsolePage(.post, path, access: .development) { request in
                try await Self.act(then: path) {
                    let isHolding = request.form["hold"] == "1"
                    try world.holdNotifications(isHolding)
                    return isHolding
                        ? "Apple holds its notifications now." : "Apple sends its notifications at once."
                }
            },
            ConsolePage(.post, "/world/notifications/release", access: .development) { request in
                let order = ReleaseOrder.allCases.first {
                    $0.rawValue.replacing("_", with: "-") == request.form["order"]
                }
                guard let order else {
                    return .refused("The order is in-order, reversed or shuffled.")
                }
                let count = await world.apple.release(order).count
                return .redirect(to: path, notice: "Sent: \(count).")
            },
        ]
    }
}

private struct OutboxValues: Sendable {
    struct Waiting: Sendable {
        let type: String
        let name: String
        let isHeld: Bool
        let attempts: Int
    }

    struct Sent: Sendable {
        let time: String
        let type: String
        let name: String
        let outcome: String
        let tone: String
    }

    /// Rows of a table. The outbox has at most a thousand.
    static let shown = 100

    let tabs = WorldTabs(.notifications)
    let csrf: String
    let isHolding: Bool
    let hasHeld: Bool
    let count: Int
    let hasWaiting: Bool
    let waiting: [Waiting]
    let hasSent: Bool
    let sent: [Sent]

    init(_ request: ConsoleRequest, _ world: DevelopmentFakes) {
        let state = world.apple.state
        var names: [String: String] = [:]
        for user in state.users {
            for identity in user.identities { names[identity.subject] = user.displayName }
        }
        (csrf, isHolding) = (request.viewer.formToken, state.deliveryPlan.holds)
        let all = state.waitingNotifications
        (count, hasWaiting, hasHeld) = (all.count, !all.isEmpty, all.contains(where: \.isHeld))
        waiting = all.prefix(Self.shown).map { waiting in
            let notification = waiting.notification
            return Waiting(
                type: notification.type, name: names[notification.subject] ?? notification.subject,
                isHeld: waiting.isHeld, attempts: waiting.attempts)
        }
        sent = state.recentDeliveries.reversed().map { sent in
            Sent(
                time: RFC3339.text(milliseconds: sent.postedAt), type: sent.type,
                name: names[sent.subject] ?? sent.subject, outcome: sent.outcome,
                tone: sent.outcome == "200" ? "good" : "bad")
        }
        hasSent = !sent.isEmpty
    }
}
