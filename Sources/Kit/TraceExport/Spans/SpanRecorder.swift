public import Tracing

/// Makes the spans of this program (`Tracer` of swift-distributed-tracing).
///
/// A span without a parent begins a new trace, of which the sampler records a share. A span with a parent is
/// recorded if its parent is. What is not recorded costs no place in the queue.
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

    /// Decides about a request from outside, before anything is allocated for it.
    ///
    /// - Parameters:
    ///   - parent: The span of the caller, which decides if the request is recorded. `nil` for a new trace: of a
    ///     caller without an API key as well, because anyone could have all of its requests recorded otherwise.
    public func place(after parent: TraceContext?) -> TraceContext {
        parent.map { child(of: $0) } ?? newTrace()
    }

    /// Makes the span of a request that has its place already.
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

    /// The exporter looks at the queue by itself.
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
