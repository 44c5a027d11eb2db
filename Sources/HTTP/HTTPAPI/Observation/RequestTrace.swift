import HTTPEngine
import NIOCore
import NIOHTTP1
import TraceExport
import Tracing

/// A request's position in its trace, and the request's span if it is recorded.
///
/// Callers pass the trace explicitly, because event loops handle most requests without a task, so there are
/// no task-local values to hold the trace.
final class RequestTrace: Sendable {
    let place: TraceContext
    /// The request span; `nil` if the request is not recorded.
    let span: RecordedSpan?
    let recorder: SpanRecorder

    init(place: TraceContext, span: RecordedSpan?, recorder: SpanRecorder) {
        (self.place, self.span, self.recorder) = (place, span, recorder)
    }

    /// The tracing context for the request's work; `nil` if the request is not recorded.
    var context: ServiceContext? { span?.context }

    /// Begins a span below the request's span; returns `nil` if the request is not recorded.
    func begin(_ name: SpanName) -> RecordedSpan? {
        guard let context else { return nil }
        return recorder.startSpan(name.rawValue, context: context, ofKind: .internal)
    }
}

/// Determines each request's position in its trace.
///
/// Continues the trace of a caller with an API key, with the caller's sampling decision. Any other request
/// begins a new trace, whose span links to the caller's trace, because otherwise any client could force this
/// service to record all of its requests.
struct RequestTracing: Sendable {
    let recorder: SpanRecorder

    /// Returns `nil` for an unrecorded request that continues no trace, because its log line needs no trace
    /// ID.
    func begin(
        _ headers: HTTPHeaders, isTrusted: Bool, startedAt: NIODeadline
    ) -> RequestTrace? {
        let named = Self.context(in: headers)
        let parent = isTrusted ? named : nil
        let place = recorder.place(after: parent)
        guard place.isSampled else {
            return parent.map { _ in RequestTrace(place: place, span: nil, recorder: recorder) }
        }
        let age = UInt64(max(0, (NIODeadline.now() - startedAt).nanoseconds))
        let now = DefaultTracerClock.now.nanosecondsSinceEpoch
        let span = recorder.span(
            SpanName.request.rawValue, at: place, parent: parent, kind: .server,
            startedAt: now - min(now, age))
        if let named, !isTrusted { span.addLink(to: named) }
        return RequestTrace(place: place, span: span, recorder: recorder)
    }

    /// Returns the caller's trace context. Reads strictly: a repeated `traceparent` header is ignored.
    static func context(in headers: HTTPHeaders) -> TraceContext? {
        var parent: String?
        var states: [String] = []
        for (name, value) in headers {
            switch name.utf8.count {
            case 10 where RequestFields.areEqual(name, "tracestate"): states.append(value)
            case 11 where RequestFields.areEqual(name, "traceparent"):
                guard parent == nil else { return nil }
                parent = value
            default: break
            }
        }
        guard let parent else { return nil }
        // The decoder keeps trailing white space, but the value does not contain it (RFC 9112 §5.1).
        var end = parent.utf8[...]
        while let last = end.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
            end.removeLast()
        }
        guard var context = TraceContext(traceparent: String(Substring(end))) else { return nil }
        context.state = TraceState.accept(states)
        return context
    }
}

extension RecordedSpan {
    /// Adds the response attributes to the span, with the names of OpenTelemetry's HTTP conventions, and ends
    /// the span.
    func finish(_ info: RequestInfo, _ response: HTTPResponse) {
        let method = info.method?.rawValue ?? "none"
        if let endpoint = info.endpoint { operationName = "\(method) \(endpoint.path)" }
        set("http.request.method", .string(method))
        set("http.route", info.endpoint.map { .string($0.path.description) })
        set("http.response.status_code", .int64(Int64(response.status.code)))
        set("siwa.request_id", .string(info.requestID))
        set("siwa.caller", (info.caller ?? info.client?.caller).map { .string($0) })
        set("siwa.oauth_client", info.client?.name.map { .string($0) })
        set("siwa.reason", info.client?.refusal.map { .string($0.reason) })
        set("error.type", response.code.map { .string($0) })
        if response.status.code >= 500 { setStatus(SpanStatus(code: .error)) }
        end()
    }
}
