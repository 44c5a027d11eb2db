import Encodings

extension WorldPages {
    var outboxPages: [ConsolePage] {
        let path = WorldTabs.Place.notifications.rawValue
        return [
            ConsolePage(.get, path, access: .development) { request in
                .page(
                    template: "world-notifications", title: "Notifications",
                    values: OutboxValues(request, world.outbox), isLive: true)
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
                guard let order = WorldReleaseOrder(rawValue: request.form["order"] ?? "") else {
                    return .refused("The order is in-order, reversed or shuffled.")
                }
                let count = await world.releaseNotifications(order)
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

    init(_ request: ConsoleRequest, _ outbox: WorldOutbox) {
        (csrf, isHolding) = (request.viewer.formToken, outbox.isHolding)
        (count, hasWaiting) = (outbox.waiting.count, !outbox.waiting.isEmpty)
        hasHeld = outbox.waiting.contains(where: \.isHeld)
        waiting = outbox.waiting.prefix(Self.shown).map {
            Waiting(type: $0.type, name: $0.name, isHeld: $0.isHeld, attempts: $0.attempts)
        }
        hasSent = !outbox.sent.isEmpty
        sent = outbox.sent.reversed().map { sent in
            Sent(
                time: RFC3339.text(milliseconds: sent.at), type: sent.type, name: sent.name,
                outcome: sent.outcome, tone: sent.outcome == "200" ? "good" : "bad")
        }
    }
}
