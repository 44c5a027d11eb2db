import StrictJSON
import Synchronization

/// A receiver that polls (RFC 8936) with several loops at once, and acknowledges what it got with the next
/// poll.
///
/// Tokens of a response that was lost come again only after a minute: the test makes them due.
final class PollingReceiver: Sendable {
    static let name = "polled"

    private struct State {
        var isClosed = false
        /// Number of arrivals and acknowledgements so far.
        var steps = 0
        /// Step of the first arrival of each event, and of the first request that acknowledged it.
        var arrivals: [String: Int] = [:]
        var acknowledged: [String: Int] = [:]
        var polls = 0
    }

    private let backend: @Sendable () -> Backend?
    private let state = Mutex(State())

    /// - Parameter backend: A service that runs; `nil` while none does.
    init(backend: @escaping @Sendable () -> Backend?) {
        self.backend = backend
    }

    /// IDs of the events that have arrived.
    var taken: Set<String> { state.withLock { Set($0.arrivals.keys) } }
    var polls: Int { state.withLock(\.polls) }

    func close() { state.withLock { $0.isClosed = true } }

    /// Polls until it is closed.
    func run(loops: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<loops { group.addTask { await self.loop() } }
        }
    }

    private func loop() async {
        var stored: [String] = []
        while !state.withLock(\.isClosed) || !stored.isEmpty {
            let isClosed = state.withLock { state in
                for id in stored where state.acknowledged[id] == nil {
                    state.steps += 1
                    state.acknowledged[id] = state.steps
                }
                return state.isClosed
            }
            let body: [(String, JSONValue)] = [
                ("ack", .array(stored.map { .string($0) })), ("maxEvents", .integer(isClosed ? 0 : 16)),
                ("returnImmediately", .bool(true)),
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
            state.withLock { state in
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
        let (arrivals, acknowledged) = state.withLock { ($0.arrivals, $0.acknowledged) }
        var last: [String: Int] = [:]
        return feed.events.filter { event in
            defer { last[event.account] = max(last[event.account] ?? 0, acknowledged[event.id] ?? .max) }
            return (arrivals[event.id] ?? .max) < last[event.account] ?? 0
        }.map(\.id)
    }
}
