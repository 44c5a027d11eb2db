import Synchronization
public import Tracing

/// Makes the spans of this program (`Tracer` of swift-distributed-tracing).
///
/// A span without a parent begins a new trace; the sampler records a share of new traces. A span with a
/// parent is recorded if its parent is. A span that is not recorded takes no place in the queue.
public final class SpanRecorder: Tracer {
    public let queue: SpanQueue
    private let sampler: TraceSampler
    private let ids: TraceIDs

    public init(sampler: TraceSampler, queue: SpanQueue = SpanQueue()) {
        (self.sampler, self.queue, ids) = (sampler, queue, TraceIDs())
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        let context = context()
        let trace = context.trace.map { child(of: $0) } ?? newTrace()
        return span(
            operationName, trace, parent: context.trace?.spanID, context: context, kind,
            startedAt: trace.isSampled ? instant().nanosecondsSinceEpoch : 0)
    }

    /// Decides about a request from outside, before any allocation for it.
    ///
    /// - Parameters:
    ///   - parent: The span of the caller, which decides about the recording of the request. `nil`
    ///     for a new trace, and for a caller without an API key, because any client could
    ///     otherwise have all of its requests recorded.
    public func place(after parent: TraceContext?) -> TraceContext {
        parent.map { child(of: $0) } ?? newTrace()
    }

    /// Makes the span of a request whose place is already decided.
    public func span(
        _ name: String, at place: TraceContext, parent: TraceContext?, kind: SpanKind, startedAt: UInt64
    ) -> RecordedSpan {
        span(name, place, parent: parent?.spanID, context: .topLevel, kind, startedAt: startedAt)
    }

    private func span(
        _ name: String, _ trace: TraceContext, parent: SpanID?, context: ServiceContext, _ kind: SpanKind,
        startedAt: UInt64
    ) -> RecordedSpan {
        RecordedSpan(
            name, trace, parent: parent, context: context, kind: kind, startedAt: startedAt, queue: queue)
    }

    private func child(of parent: TraceContext) -> TraceContext {
        TraceContext(
            traceID: parent.traceID, spanID: ids.span(), isSampled: parent.isSampled, state: parent.state)
    }

    private func newTrace() -> TraceContext {
        let id = ids.trace()
        return TraceContext(traceID: id, spanID: ids.span(), isSampled: sampler.records(id))
    }

    /// Does nothing, because the exporter reads the queue by itself.
    public func forceFlush() {}

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier),
            var trace = TraceContext(traceparent: text)
        else { return }
        trace.state = extractor.extract(key: "tracestate", from: carrier).flatMap { TraceState.accept([$0]) }
        context.trace = trace
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
}

/// Decides which traces are recorded: the traces that their caller records, and a share of new traces.
///
/// The decision about a new trace depends only on its ID, as in OpenTelemetry's consistent sampling, so that
/// programs with the same ratio record the same traces.
public struct TraceSampler: Sendable {
    /// The smallest recorded number in the last seven bytes of an ID.
    private let threshold: UInt64

    /// - Parameter ratio: 0 to 1.
    public init(ratio: Double) {
        precondition(ratio >= 0 && ratio <= 1, "a ratio is 0 to 1")
        threshold = UInt64((1 - ratio) * Self.numbers)
    }

    func records(_ id: TraceID) -> Bool { id.low & 0x00FF_FFFF_FFFF_FFFF >= threshold }

    private static let numbers = 72_057_594_037_927_936.0
}

/// Makes the IDs of traces and spans.
///
/// IDs only name and protect nothing, so they need not be secret. The finalizer of splitmix64 is a bijection,
/// so the spans of a process never repeat. The start value is random in each process.
final class TraceIDs: Sendable {
    private let counter: Atomic<UInt64>
    /// Process value that keeps IDs apart when the counters of two processes are equal.
    private let process: UInt64

    /// - Parameter seed: Seed of the IDs; `nil` for random IDs.
    init(seed: UInt64? = nil) {
        counter = Atomic(seed ?? .random(in: .min ... .max))
        process = seed ?? .random(in: .min ... .max)
    }

    func trace() -> TraceID {
        while true {
            let low = next()
            if let id = TraceID(high: Self.mixed(low ^ process), low: low) { return id }
        }
    }

    func span() -> SpanID {
        while true {
            if let id = SpanID(next()) { return id }
        }
    }

    private func next() -> UInt64 {
        Self.mixed(counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
