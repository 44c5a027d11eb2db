import Synchronization

/// Spans that wait for the collector. Spans above its bound are dropped and counted: a collector that is slow or
/// away costs memory up to the bound, and no time of a request.
public final class SpanQueue: Sendable {
    public static let bound = 2048

    private struct State {
        var spans: [FinishedSpan] = []
        var dropped = 0
    }

    private let state = Mutex(State())

    public init() {}

    func append(_ span: FinishedSpan) {
        state.withLock { state in
            if state.spans.count < Self.bound { state.spans.append(span) } else { state.dropped += 1 }
        }
    }

    /// Takes all spans.
    package func takeAll() -> [FinishedSpan] { take(atMost: Self.bound).spans }

    /// Takes the oldest spans, and the number of spans that were dropped since the last call.
    func take(atMost most: Int) -> (spans: [FinishedSpan], dropped: Int) {
        state.withLock { state in
            defer { state.dropped = 0 }
            guard state.spans.count > most else {
                defer { state.spans = [] }
                return (state.spans, state.dropped)
            }
            defer { state.spans.removeFirst(most) }
            return (Array(state.spans.prefix(most)), state.dropped)
        }
    }
}
