import AppleAccounts
import StrictJSON

/// The whole event feed, as the truth about what receivers must get.
struct DeliveredFeed: Sendable {
    struct Event: Sendable {
        let id: String
        let account: String
        let recordedAt: Moment
        let recordedText: String
    }

    struct Unreadable: Error {}

    let events: [Event]
    var ids: Set<String> { Set(events.map(\.id)) }

    static func read(_ backend: Backend) async throws -> DeliveredFeed {
        var events: [Event] = []
        var cursor = "0"
        while true {
            let page = try await backend.get("/v1/events?after=\(cursor)&limit=100")
            guard let found = page["events"]?.array, let next = page["cursor"]?.string else {
                throw Unreadable()
            }
            for event in found {
                guard let id = event["id"]?.string, let account = event["account_id"]?.string,
                    let text = event["recorded_at"]?.string, let moment = Moment(rfc3339: text)
                else { throw Unreadable() }
                events.append(Event(id: id, account: account, recordedAt: moment, recordedText: text))
            }
            if found.isEmpty { return DeliveredFeed(events: events) }
            cursor = next
        }
    }

    /// Events that no attempt of the receiver ended with success.
    func missing(at server: ReceivingServer) -> Set<String> { ids.subtracting(server.taken) }

    /// Events of which an attempt began before the receiver had taken every earlier event of the account.
    func overtaking(at server: ReceivingServer) -> [String] {
        var taken: [String: Int] = [:]
        var begun: [String: Int] = [:]
        for attempt in server.attempts {
            begun[attempt.eventID] = min(begun[attempt.eventID] ?? .max, attempt.begin)
            if let end = attempt.end { taken[attempt.eventID] = min(taken[attempt.eventID] ?? .max, end) }
        }
        var lastTaken: [String: Int] = [:]
        var found: [String] = []
        for event in events {
            if let begin = begun[event.id], begin < lastTaken[event.account] ?? 0 { found.append(event.id) }
            lastTaken[event.account] = max(lastTaken[event.account] ?? 0, taken[event.id] ?? .max)
        }
        return found
    }

    /// Milliseconds from the record of each event to its first attempt, in order. Events without an attempt
    /// are left out.
    ///
    /// - Parameter offset: The time of 1970 by the clock of the attempts.
    func delays(
        at server: ReceivingServer, from offset: ContinuousClock.Instant, in range: Range<Moment>? = nil
    ) -> [Int64] {
        var first: [String: ContinuousClock.Instant] = [:]
        for attempt in server.attempts where first[attempt.eventID] == nil {
            first[attempt.eventID] = attempt.arrivedAt
        }
        return events.compactMap { event -> Int64? in
            if let range, !range.contains(event.recordedAt) { return nil }
            guard let arrival = first[event.id] else { return nil }
            let (seconds, attoseconds) = (arrival - offset).components
            return seconds * 1000 + attoseconds / 1_000_000_000_000_000 - event.recordedAt.milliseconds
        }.sorted()
    }

    /// Returns the value below which this share of the values is.
    static func percentile(_ share: Double, of sorted: [Int64]) -> Int64? {
        guard !sorted.isEmpty else { return nil }
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }
}
