import AppleAccounts
import StrictJSON

/// A receiver that polls (RFC 8936) with several loops at once, and acknowledges what it got with the next
/// poll.
///
/// Tokens of a response that was lost come again only after a minute: the test makes them due.
final class PollingReceiver: Sendable {
    static let name = "polled"

    private struct State: Sendable {
        var isClosed = false
        /// Number of arrivals and acknowledgements so far.
        var steps = 0
        /// Step of the first arrival of each event, and of the first request that acknowledged it.
        var arrivals: [String: Int] = [:]
        var acknowledged: [String: Int] = [:]
        var polls = 0
    }

    private let backend: @Sendable () -> Backend?
    private let state = Shared(State())

    /// - Parameter backend: A service that runs; `nil` while none does.
    init(backend: @escaping @Sendable () -> Backend?) { self.backend = backend }

    /// IDs of the events that have arrived.
    var taken: Set<String> { Set(state.arrivals.keys) }
    var polls: Int { state.polls }

    func close() { state.change { $0.isClosed = true } }

    /// Polls until it is closed.
    func run(loops: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<loops { group.addTask { await self.loop() } }
        }
    }

    private func loop() async {
        var stored: [String] = []
        while !state.isClosed || !stored.isEmpty {
            let isClosed = state.change { state in
                for id in stored where state.acknowledged[id] == nil {
                    state.steps += 1
                    state.acknowledged[id] = state.steps
                }
                return state.isClosed
            }
            let body: [(String, JSONValue)] = [
                ("ack", .array(stored.map { .string($0) })), ("maxEvents", .integer(isClosed ? 0 : 16)),
                ("returnImmediately", true),
            ]
            guard let backend = backend(),
                let response = try? await backend.post("/v1/event-receivers/\(Self.name)/poll", body),
                response.status == 200
            else {
                // The service is down. An event whose acknowledgement was lost comes again.
                if isClosed { return }
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            stored = response["sets"]?.object?.members.map(\.name) ?? []
            state.change { state in
                state.polls += 1
                for id in stored where state.arrivals[id] == nil {
                    state.steps += 1
                    state.arrivals[id] = state.steps
                }
            }
            if stored.isEmpty, !isClosed { try? await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// Events that arrived before every earlier event of the account was acknowledged.
    func overtaking(in feed: DeliveredFeed) -> [String] {
        let (arrivals, acknowledged) = (state.arrivals, state.acknowledged)
        var last: [String: Int] = [:]
        return feed.events.filter { event in
            defer { last[event.account] = max(last[event.account] ?? 0, acknowledged[event.id] ?? .max) }
            return (arrivals[event.id] ?? .max) < last[event.account] ?? 0
        }.map(\.id)
    }
}

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
