import EventDelivery

/// Counts the security event tokens of polls, and the polls that wait.
struct PollMetrics: Sendable {
    private let handedOut: CounterCell
    private let taken: CounterCell
    private let refused: CounterCell
    private let waiting: GaugeCell

    init(_ registry: MetricsRegistry) {
        func counter(_ result: String) -> CounterCell {
            registry.counter(
                "siwa_event_polled_tokens_total", [("result", result)],
                help: "Security event tokens of polls by result.")
        }
        (handedOut, taken, refused) = (counter("handed_out"), counter("taken"), counter("refused"))
        waiting = registry.gauge(
            "siwa_event_polls", help: "Requests that poll or wait for security event tokens.")
    }

    func counting(_ poll: () async throws -> PollResponse) async throws -> PollResponse {
        waiting.increment(by: 1)
        defer { waiting.decrement(by: 1) }
        let response = try await poll()
        handedOut.increment(by: Int64(response.tokens.count))
        taken.increment(by: Int64(response.taken))
        refused.increment(by: Int64(response.refused))
        return response
    }
}
