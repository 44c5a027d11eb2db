import AppleAccounts
import Console
import HTTPAPI

/// The work of which the metrics do not tell enough, as the database has it.
struct WaitingWork: Sendable {
    let receivers: [ClaimedReceiver]
    /// The time at which the first event was recorded that a receiver has not got; none for receivers that have all.
    let oldest: [ReceiverName: Moment]
    /// The earliest deadline of an erasure that is not finished.
    let deadline: Moment?

    init(receivers: [ClaimedReceiver], next events: [AccountEvent], deadline: Moment?) {
        (self.receivers, self.deadline) = (receivers, deadline)
        let times = Dictionary(
            events.map { ($0.sequence, $0.recordedAt) }, uniquingKeysWith: { first, _ in first })
        oldest = receivers.reduce(into: [:]) { oldest, receiver in
            let waiting =
                receiver.retries.map(\.waitingSince) + [times[receiver.record.cursor + 1]].compactMap { $0 }
            oldest[receiver.record.name] = waiting.min()
        }
    }

    /// - Throws: `StorageError`.
    init(_ store: any ServiceStore) async throws {
        let receivers = try await store.receivers()
        self.init(
            receivers: receivers,
            next: try await store.events(
                numbered: Array(Set(receivers.map { $0.record.cursor + 1 })).sorted()),
            deadline: try await store.earliestErasureDeadline())
    }
}

extension ServiceCondition {
    /// Adds what waits for receivers, and the deadline of erasures.
    ///
    /// - Parameter registry: Has the numbers of events that wait, which are read every 15 seconds.
    mutating func add(_ work: WaitingWork, waiting registry: MetricsRegistry, at now: Moment) {
        if let index = queues.firstIndex(where: { $0.name == .erasure }) {
            queues[index].deadline = work.deadline
        }
        let waiting = Dictionary(
            registry.readings(of: "siwa_event_receiver_waiting").compactMap { reading in
                reading.labels["receiver"].map { ($0, Int64(reading.value)) }
            }, uniquingKeysWith: { first, _ in first })
        // Receivers that are stored and no longer configured have no metric.
        let known = work.receivers.filter { waiting[$0.record.name.rawValue] != nil }
        for (name, isOwn) in [(QueueCondition.Name.google, true), (.deliveries, false)] {
            let own = known.filter { ($0.record.name == .google) == isOwn }
            guard !own.isEmpty else { continue }
            let oldest = own.compactMap { work.oldest[$0.record.name] }.min()
            queues.append(
                QueueCondition(
                    name, count: own.reduce(0) { $0 + (waiting[$1.record.name.rawValue] ?? 0) },
                    oldest: oldest.map { max(0, now.milliseconds - $0.milliseconds) / 1000 } ?? 0))
        }
        pausedReceivers = known.filter { $0.record.pausedAt != nil }.map(\.record.name.rawValue)
            .filter { !$0.hasPrefix("client:") }
        lateReceivers = known.compactMap { receiver in
            let name = receiver.record.name
            // Reports to Google and streams of clients are told of elsewhere.
            guard name != .google, !name.rawValue.hasPrefix("client:"), receiver.record.pausedAt == nil,
                let since = work.oldest[name]
            else { return nil }
            return LateReceiver(name: name.rawValue, waiting: waiting[name.rawValue] ?? 0, since: since)
        }
        guard
            let failing = known.first(where: { $0.record.name == .google })?.retries
                .filter({ $0.attempts > 0 }), let first = failing.map(\.waitingSince).min()
        else { return }
        google = ReceiverCondition(
            failing: failing.count, attempts: failing.map(\.attempts).max() ?? 0, failingSince: first)
    }
}
