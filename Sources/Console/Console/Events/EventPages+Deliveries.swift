import AppleAccounts
import EventDelivery
import Pages

// Deliveries to receivers. These pages offer the actions of the `siwa deliveries` commands while the service
// runs. With SQLite, the commands require that the service is stopped.
extension EventPages {
    func deliveries(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let deliveries = try await deliveries(at: request.now)
        let last = try await store.lastEventSequence()
        return page("Deliveries", at: "/console/events/deliveries", request, isLive: true) {
            if deliveries.isEmpty {
                """
                <p class="empty">There is no receiver: the configuration has no webhooks, no events of clients and \
                no client of Google.</p>
                """
            } else {
                "<p>The last event of the feed has number \(last).</p>"
                for delivery in deliveries { Self.card(of: delivery, token: request.viewer.formToken) }
            }
        }
    }

    /// Returns the configured receivers, and the receivers that exist only in the database.
    func deliveries(at now: Moment) async throws -> [Delivery] {
        let stored = try await store.receivers()
        let last = try await store.lastEventSequence()
        let names = Set(receivers.map(\.name) + stored.map(\.record.name)).sorted()
        return names.map { name in
            Delivery(
                name: name, receiver: receivers.first { $0.name == name },
                stored: stored.first { $0.record.name == name }, failure: lastFailure(name),
                last: last, now: now)
        }
    }

    private static func card(of delivery: Delivery, token: String) -> HTML {
        let name = delivery.name.rawValue
        func form(_ action: String, @PageBuilder _ content: () -> HTML) -> PostForm {
            PostForm(to: "/console/events/deliveries/\(action)", token: token, [("receiver", name)], content)
        }
        let facts =
            [Fact("Form", .text(delivery.receiver?.form ?? "not configured any more"))] + delivery.progress
            + [delivery.lastError(" here", since: " of this process")]
        let actions = HTML {
            if delivery.stored?.record.pausedAt != nil {
                form("resume") { "<p><button>Resume \(name)</button></p>" }
            }
            if delivery.receiver?.isVerifiable == true {
                form("verify") { "<p><button>Send a verification event to \(name)</button></p>" }
            }
            Details("Replay") {
                form("replay") {
                    """
                    <p>\(name) gets every event since this moment once more, also those that it has taken. What \
                    waits for another attempt is dropped first, and a pause ends.</p>
                    <p><label for="since-\(name)">Since</label><input id="since-\(name)" name="since" required \
                    placeholder="2026-11-21T02:00:00Z" autocomplete="off"><button class="danger">Replay to \
                    \(name)</button></p>
                    """
                }
            }
        }
        return """
            <section class="card" aria-label="\(name)">
            <h2><code>\(name)</code> \(delivery.state)</h2>
            \(Facts(facts).html)
            \(delivery.stored == nil ? nil : actions)</section>
            """
    }

    func resume(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let name = try await known(request)
        guard try await store.resumeReceiver(name, at: request.now) else { return .notFound }
        wake()
        return .redirect(
            to: "/events/deliveries", notice: "\(name) is resumed and gets what it missed, in order.")
    }

    func replay(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let name = try await known(request)
        guard let since = Moment(rfc3339: request.form["since"] ?? ""), since <= request.now else {
            return .refused(
                "Give a moment of the past like 2026-11-21T02:00:00Z: the receiver gets every event that was recorded "
                    + "since then once more.")
        }
        let cursor = try await store.eventSequence(before: since)
        let last = try await store.lastEventSequence()
        guard try await store.moveReceiver(name, to: cursor, at: request.now) else { return .notFound }
        wake()
        return .redirect(
            to: "/events/deliveries", notice: "\(name) gets \(last - cursor) events once more, at most.")
    }

    /// Sends a verification event, without an audit row because it concerns no user and changes no position.
    func verify(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let name = try await known(request)
        guard receivers.first(where: { $0.name == name })?.isVerifiable ?? false else {
            return .refused("\(name) gets no security event tokens, so it gets no verification event.")
        }
        var generator = SystemRandomNumberGenerator()
        let verification = StreamVerification(
            id: EventID(UniqueID(at: request.now, using: &generator)), state: nil)
        let result = try await store.requestVerification(verification, of: name, at: request.now)
        switch result {
        case .accepted:
            wake()
            return .redirect(to: "/events/deliveries", notice: "\(name) gets a verification event.")
        case .tooSoon:
            return .refused("A verification was requested less than a minute ago. Try again later.")
        case .paused: return .refused("\(name) is paused. Resume it first.")
        case .unknownReceiver: return .notFound
        }
    }

    /// Returns the receiver's name. Throws `.notFound` if the receiver is not stored.
    private func known(_ request: ConsoleRequest) async throws -> ReceiverName {
        guard let name = request.form["receiver"].flatMap({ ReceiverName($0) }),
            try await store.receiver(name) != nil
        else { throw ConsoleAnswer.notFound }
        return name
    }
}

extension EventPages {
    /// A receiver from the configuration, the database, or both, with its progress.
    struct Delivery {
        let name: ReceiverName
        let receiver: Receiver?
        let stored: ClaimedReceiver?
        let failure: DeliveryFailure?
        /// Sequence number of the feed's last event.
        let last: Int64
        let now: Moment

        private var failedRetries: [DeliveryRetry] { (stored?.retries ?? []).filter { $0.attempts > 0 } }
        private var waiting: Int64 { stored.map { $0.waiting(lastSequence: last) } ?? 0 }

        var state: HTML {
            guard let stored else { return .muted("new") }
            if let pausedAt = stored.record.pausedAt {
                return .span("bad", "paused since \(EventTime.text(pausedAt, now))")
            }
            guard receiver != nil else { return .muted("not configured") }
            if !failedRetries.isEmpty { return .span("warn", "refuses events") }
            return waiting == 0 ? .span("good", "up to date") : .span("warn", "behind")
        }

        var progress: [Fact] {
            var retries = "none"
            if let oldest = failedRetries.map(\.waitingSince).min() {
                retries = "\(failedRetries.count), the oldest since \(EventTime.text(oldest, now))"
                if let due = failedRetries.map(\.dueAt).min() {
                    retries += "; next attempt \(EventTime.distance(of: due, from: now))"
                }
            }
            return [
                Fact("Position", stored.map { "\($0.record.cursor) of \(last)" } ?? "none"),
                Fact("Behind", waiting == 0 ? "0" : "\(waiting) at most"), Fact("Not taken", .text(retries)),
            ]
        }

        func lastError(_ place: String = "", since process: String = "") -> Fact {
            let text = failure.map { "\($0.text), \(EventTime.distance(of: $0.moment, from: now))" }
            return Fact("Last error\(place)", .text(text ?? "none since the start\(process)"))
        }
    }
}
