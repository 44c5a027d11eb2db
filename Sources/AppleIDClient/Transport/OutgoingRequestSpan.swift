import AsyncHTTPClient
public import Tracing

/// A span around a request to another service (`InstrumentationSystem` of swift-distributed-tracing). The other
/// service learns nothing of it: Apple and Google have no use for our trace IDs.
public enum OutgoingRequestSpan {
    /// - Parameters:
    ///   - name: The work, in the words of this service: every value of a name is a line in a tracing system.
    ///   - url: One of the configured endpoints. Only its host goes into the span.
    public static func with<Value: Sendable>(
        _ name: String, _ url: String, _ body: (any Span) async throws -> Value
    ) async throws -> Value {
        try await withSpan(name, ofKind: .client) { span in
            if span.isRecording {
                span.updateAttributes { $0.set("server.address", value: host(of: url).map { .string($0) }) }
            }
            return try await body(span)
        }
    }

    /// Notes the status of a response.
    public static func note(status: Int, on span: any Span) {
        guard span.isRecording else { return }
        span.updateAttributes { $0.set("http.response.status_code", value: .int64(Int64(status))) }
        if status >= 400 { span.setStatus(SpanStatus(code: .error)) }
    }

    private static func host(of url: String) -> String? {
        let parts = url.split(separator: "/", maxSplits: 2)
        return parts.count > 1 ? String(parts[1].prefix { $0 != ":" }) : nil
    }
}
