public import TraceExport
public import Tracing

/// A span around a request to another service (`InstrumentationSystem` of swift-distributed-tracing). The other
/// service learns nothing of it: Apple and Google have no use for our trace IDs.
public enum OutgoingRequestSpan {
    /// - Parameters:
    ///   - name: The work, in the words of this service.
    ///   - url: One of the configured endpoints. Only its host goes into the span.
    public static func with<Value: Sendable>(
        _ name: SpanName, _ url: String, _ body: (any Span) async throws -> Value
    ) async throws -> Value {
        try await withSpan(name.rawValue, ofKind: .client) { span in
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

    /// Returns nothing of what follows the host: a query can have a secret.
    static func host(of url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // The colons of an IPv6 address are in brackets (RFC 3986 §3.2.2).
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[...end])
        }
        return String(authority.prefix { $0 != ":" })
    }
}
