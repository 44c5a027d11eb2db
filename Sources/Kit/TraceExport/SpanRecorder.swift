import Synchronization
public import Tracing

/// Creates this program's spans (`Tracer` of swift-distributed-tracing).
///
/// A span without a parent begins a new trace, and the sampler records a share of new traces. A span with a
/// parent is recorded if its parent is. A span that is not recorded does not enter the queue.
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

    /// Decides whether to record a request from outside, before anything is allocated for the request.
    ///
    /// - Parameters:
    ///   - parent: The caller's span, which decides whether the request is recorded. It is `nil` for a new
    ///     trace, and for a caller without an API key, because otherwise any client could make the service
    ///     record all of its requests.
    public func place(after parent: TraceContext?) -> TraceContext {
        parent.map { child(of: $0) } ?? newTrace()
    }

    /// Creates a request's span once `place(after:)` has made the decision.
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

    /// Does nothing, because the exporter reads the queue itself.
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

/// Decides which traces are recorded: all traces that their callers record, and a share of the new traces.
///
/// The decision about a new trace depends only on the trace ID, as in OpenTelemetry's consistent sampling, so
/// that programs with the same ratio record the same traces.
public struct TraceSampler: Sendable {
    /// A trace is recorded if the last seven bytes of its ID form at least this number.
    private let threshold: UInt64

    /// - Parameter ratio: Share of new traces that are recorded, from 0 to 1.
    public init(ratio: Double) {
        precondition(ratio >= 0 && ratio <= 1, "a ratio is 0 to 1")
        threshold = UInt64((1 - ratio) * Self.numbers)
    }

    func records(_ id: TraceID) -> Bool { id.low & 0x00FF_FFFF_FFFF_FFFF >= threshold }

    private static let numbers = 72_057_594_037_927_936.0
}

/// Creates trace and span IDs.
///
/// IDs protect nothing, so they need not be secret. The splitmix64 finalizer is a bijection, so span IDs
/// never repeat within a process. The start value is random in each process.
final class TraceIDs: Sendable {
    private let counter: Atomic<UInt64>
    /// A random value per process, so that IDs differ even if the counters of two processes are equal.
    private let process: UInt64

    /// - Parameter seed: ID seed; `nil` for random IDs.
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
