import AppleAccounts
import EventDelivery

// The deliveries to receivers. What the commands of `siwa deliveries` do needs a stopped service on SQLite; the
// running service does it here on every database.
extension EventPages {
    /// One receiver as the pages show it.
    struct DeliveryLine: Sendable {
        let name: String
        let form: String
        let state: String
        let style: String
        let position: String
        let behind: String
        let retries: String
        let lastError: String?
        let isStored: Bool
        let isPaused: Bool
        let isVerifiable: Bool
    }

    private struct DeliveryValues: Sendable {
        let navigation: Tabs
        let csrf: String
        let hasReceivers: Bool
        let receivers: [DeliveryLine]
        let last: Int64
    }

    func deliveries(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let lines = try await lines(at: request.now)
        let values = DeliveryValues(
            navigation: tabs("/events/deliveries", request), csrf: request.viewer.formToken,
            hasReceivers: !lines.isEmpty, receivers: lines,
            last: try await dependencies.store.lastEventSequence())
        return .template("deliveries", title: "Deliveries", values: values, isLive: true)
    }

    /// The configured receivers and those that only the database has.
    func lines(at now: Moment) async throws -> [DeliveryLine] {
        let stored = try await dependencies.store.receivers()
        let last = try await dependencies.store.lastEventSequence()
        let configured = dependencies.receivers.map(\.name)
        let names = Set(configured + stored.map(\.record.name)).sorted()
        return names.map { name in
            line(
                name, dependencies.receivers.first { $0.name == name },
                stored.first { $0.record.name == name }, last: last, at: now)
        }
    }

    private func line(
        _ name: ReceiverName, _ receiver: Receiver?, _ stored: ClaimedReceiver?, last: Int64, at now: Moment
    ) -> DeliveryLine {
        let (state, style) = Self.state(receiver, stored, last: last, at: now)
        let waiting = stored.map { $0.waiting(lastSequence: last) } ?? 0
        let failed = (stored?.retries ?? []).filter { $0.attempts > 0 }
        var retries = "none"
        if let oldest = failed.map(\.waitingSince).min() {
            retries = "\(failed.count), the oldest since \(EventTime.text(oldest, now))"
            if let due = failed.map(\.dueAt).min() {
                retries += "; next attempt \(EventTime.distance(of: due, from: now))"
            }
        }
        let failure = dependencies.lastFailure(name)
        return DeliveryLine(
            name: name.rawValue, form: receiver?.form ?? "not configured any more", state: state,
            style: style,
            position: stored.map { "\($0.record.cursor) of \(last)" } ?? "none",
            behind: waiting == 0 ? "0" : "\(waiting) at most", retries: retries,
            lastError: failure.map { "\($0.text), \(EventTime.distance(of: $0.moment, from: now))" },
            isStored: stored != nil, isPaused: stored?.record.pausedAt != nil,
            isVerifiable: stored != nil && receiver?.isVerifiable ?? false)
    }

    private static func state(
        _ receiver: Receiver?, _ stored: ClaimedReceiver?, last: Int64, at now: Moment
    ) -> (text: String, style: String) {
        guard let stored else { return ("new", "muted") }
        if let pausedAt = stored.record.pausedAt {
            return ("paused since \(EventTime.text(pausedAt, now))", "bad")
        }
        guard receiver != nil else { return ("not configured", "muted") }
        if stored.retries.contains(where: { $0.attempts > 0 }) { return ("refuses events", "warn") }
        return stored.waiting(lastSequence: last) == 0 ? ("up to date", "good") : ("behind", "warn")
    }

    func resume(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let name = try await known(request) else { return .notFound }
        let isKnown = try await asOperator(request) {
            try await dependencies.store.resumeReceiver(name, at: request.now)
        }
        guard isKnown else { return .notFound }
        dependencies.wake()
        return .redirect(
            to: "/events/deliveries", notice: "\(name) is resumed and gets what it missed, in order.")
    }

    func replay(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let name = try await known(request) else { return .notFound }
        guard let since = Moment(rfc3339: request.form["since"] ?? ""), since <= request.now else {
            return .refused(
                "Give a moment of the past like 2026-11-21T02:00:00Z: the receiver gets every event that was recorded "
                    + "since then once more.")
        }
        let store = dependencies.store
        let cursor = try await store.eventSequence(before: since)
        let last = try await store.lastEventSequence()
        let isKnown = try await asOperator(request) {
            try await store.moveReceiver(name, to: cursor, at: request.now)
        }
        guard isKnown else { return .notFound }
        dependencies.wake()
        return .redirect(
            to: "/events/deliveries", notice: "\(name) gets \(last - cursor) events once more, at most.")
    }

    /// Leaves no entry in the audit log: the event has nothing about a user, and changes no position.
    func verify(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let name = try await known(request) else { return .notFound }
        guard dependencies.receivers.first(where: { $0.name == name })?.isVerifiable ?? false else {
            return .refused("\(name) gets no security event tokens, so it gets no verification event.")
        }
        var generator = SystemRandomNumberGenerator()
        let verification = StreamVerification(
            id: EventID(UniqueID(at: request.now, using: &generator)), state: nil)
        let result = try await dependencies.store.requestVerification(
            verification, of: name, at: request.now)
        switch result {
        case .accepted:
            dependencies.wake()
            return .redirect(to: "/events/deliveries", notice: "\(name) gets a verification event.")
        case .tooSoon:
            return .refused("A verification was requested less than a minute ago. Try again later.")
        case .paused: return .refused("\(name) is paused. Resume it first.")
        case .unknownReceiver: return .notFound
        }
    }

    /// Returns `nil` for a receiver that is not stored.
    private func known(_ request: ConsoleRequest) async throws -> ReceiverName? {
        guard let name = request.form["receiver"].flatMap({ ReceiverName($0) }),
            try await dependencies.store.receiver(name) != nil
        else { return nil }
        return name
    }

    /// Names the operator to the store, which writes the change and the entry of the audit log in one transaction.
    private func asOperator<Value: Sendable>(
        _ request: ConsoleRequest, _ change: () async throws -> Value
    ) async throws -> Value {
        let origin = AuditOrigin(.consoleOperator(request.viewer.name), requestID: request.requestID)
        return try await AuditOrigin.$current.withValue(origin) { try await change() }
    }
}
