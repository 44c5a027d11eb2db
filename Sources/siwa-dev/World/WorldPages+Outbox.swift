import AppleEmulator
import Console
import Encodings
import Pages

extension WorldPages {
    var outboxPages: [ConsolePage] {
        [
            ConsolePage(.get, Place.notifications, access: .development, handle: notifications),
            Self.action(Place.notifications) { request in
                var plan = world.apple.state.deliveryPlan
                plan.holds = request.form["hold"] == "1"
                try world.apple.state.setDeliveryPlan(plan)
                return .redirect(
                    to: Place.notifications,
                    notice: plan.holds
                        ? "Apple holds its notifications now." : "Apple sends its notifications at once.")
            },
            Self.action("/world/notifications/release") { request in
                let order = ReleaseOrder.allCases.first {
                    $0.rawValue.replacing("_", with: "-") == request.form["order"]
                }
                guard let order else { return .refused("The order is in-order, reversed or shuffled.") }
                let count = await world.apple.release(order).count
                return .redirect(to: Place.notifications, notice: "Sent: \(count).")
            },
        ]
    }

    private func notifications(_ request: ConsoleRequest) -> ConsoleAnswer {
        let state = world.apple.state
        var names: [String: String] = [:]
        for user in state.users {
            for identity in user.identities { names[identity.subject] = user.shownName }
        }
        let (isHolding, waiting) = (state.deliveryPlan.holds, state.waitingNotifications)
        return Self.page(
            "Notifications", heading: "Apple's notifications", at: Place.notifications, isLive: true
        ) {
            Card("Outbox") {
                isHolding
                    ? "<p>Apple <span class=\"warn\">holds</span> its notifications until they are released.</p>"
                    : "<p>Apple sends each notification at once, and again until siwa takes it.</p>" as HTML
                Division("bar") {
                    PostForm(to: Place.notifications, request) {
                        isHolding
                            ? Self.button("Send at once again", "secondary", sends: ("hold", "0"))
                            : Self.button("Hold notifications", sends: ("hold", "1"))
                    }
                    if waiting.contains(where: \.isHeld) {
                        PostForm(to: "/world/notifications/release", request) {
                            Self.button("Release in order", sends: ("order", "in-order"))
                            Self.button("Release shuffled", "secondary", sends: ("order", "shuffled"))
                            Self.button("Release the last first", "secondary", sends: ("order", "reversed"))
                        }
                    }
                }
                if !waiting.isEmpty {
                    let place = request.place.limited(to: waiting.count, size: Self.pageSize)
                    let shown = waiting.dropFirst(place.skipped).prefix(Self.pageSize)
                    Table(
                        "Waiting notifications", ["Event", .any("Person"), "State"], shown,
                        caption: "Waiting: \(waiting.count)",
                        pager: Pager(
                            place, rows: shown.count, size: Self.pageSize, of: waiting.count,
                            at: "/console\(Place.notifications)")
                    ) { waiting in
                        let (type, subject) = (waiting.notification.type, waiting.notification.subject)
                        return [
                            .code(type), .text(names[subject] ?? subject),
                            waiting.isHeld ? "held" : "tried \(waiting.attempts) times",
                        ]
                    }
                }
            }
            "<h2>The latest, newest first</h2>"
            Table(
                "Sent notifications", ["Time", "Event", .any("Person"), .any("siwa answered")],
                state.recentDeliveries.reversed(), ifEmpty: "None yet. Let a person stop using the app."
            ) { sent in
                [
                    .text(RFC3339.text(milliseconds: sent.postedAt)), .code(sent.type),
                    .text(names[sent.subject] ?? sent.subject),
                    .span(sent.outcome == "200" ? "good" : "bad", .text(sent.outcome)),
                ]
            }
        }
    }

    /// Number of rows in the table of waiting notifications. The outbox holds at most a thousand.
    private static let pageSize = 100
}
