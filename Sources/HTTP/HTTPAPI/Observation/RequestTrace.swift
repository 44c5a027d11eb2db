import HTTPEngine
import NIOCore
import NIOHTTP1
import TraceExport
import Tracing

/// The place of a request in its trace, with its span if it is recorded.
///
/// Requests pass it on explicitly: most requests are handled
/// on their event loop, without a task that could carry it.
final class RequestTrace: Sendable {
    let place: TraceContext
    /// `nil` for a request that is not recorded.
    let span: RecordedSpan?
    let recorder: SpanRecorder

    init(place: TraceContext, span: RecordedSpan?, recorder: SpanRecorder) {
        (self.place, self.span, self.recorder) = (place, span, recorder)
    }

    /// The context of the work for the request; `nil` if nothing is recorded.
    var context: ServiceContext? { span?.context }

    /// Begins a span within the request; returns `nil` if nothing is recorded.
    func begin(_ name: SpanName) -> RecordedSpan? {
        guard let context else { return nil }
        return recorder.startSpan(name.rawValue, context: context, ofKind: .internal)
    }
}

/// Finds the place of each request in its trace.
///
/// Continues the trace of a caller with an API key, and records it if the caller
/// records it. Every other request begins a new trace, and its span links to the
/// caller's trace: otherwise any client could have all of its requests recorded.
struct RequestTracing: Sendable {
    let recorder: SpanRecorder

    /// Returns `nil` for an unrecorded request without a caller's trace: its log line needs no ID.
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

    /// The context of the caller, read strictly: two `traceparent` fields count as none.
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
        // The decoder leaves the white space after a value, which is not part of it (RFC 9112 §5.1).
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
    /// Describes the response, with the names of OpenTelemetry's conventions for HTTP, and ends the span.
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
