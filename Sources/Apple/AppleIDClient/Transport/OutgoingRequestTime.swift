import Metrics
public import TraceExport
public import Tracing

/// Measures requests to other services, including failed requests, from the call to the end of the response.
public enum OutgoingRequestTime {
    /// The common label for all deliveries to event receivers, because their URLs can contain secrets.
    public static let delivery = "delivery"

    /// - Parameter url: One of the configured endpoints. The last path component becomes the label, so the
    ///   number of endpoints limits the number of label values.
    public static func record(_ url: String, since start: ContinuousClock.Instant) {
        let path = url.prefix { $0 != "?" }
        record(endpoint: path.split(separator: "/").last.map(String.init) ?? "", since: start)
    }

    /// - Parameter endpoint: A fixed name in this service. Each name creates a separate series.
    public static func record(endpoint: String, since start: ContinuousClock.Instant) {
        Timer(label: "siwa_outgoing_request", dimensions: [("endpoint", endpoint)])
            .recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
    }
}

/// A span around a request to another service (`InstrumentationSystem` of swift-distributed-tracing). No
/// trace IDs are sent, because Apple and Google have no use for them.
public enum OutgoingRequestSpan {
    /// - Parameters:
    ///   - name: The work being done, in this service's terms.
    ///   - url: One of the configured endpoints. Only its host becomes part of the span.
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

    /// Records a response's status.
    public static func note(status: Int, on span: any Span) {
        guard span.isRecording else { return }
        span.updateAttributes { $0.set("http.response.status_code", value: .int64(Int64(status))) }
        if status >= 400 { span.setStatus(SpanStatus(code: .error)) }
    }

    /// Returns the host without any text after it, because a query can contain a secret.
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

/// Limits the total time of a request, including the whole response. The client's own deadline covers only
/// the response head, so a body that trickles in byte by byte would keep a request open forever.
struct TotalTime: Sendable {
    let limit: Duration

    /// Returns the result of `body`, or cancels it and throws `failure` after the time limit.
    func bound<Value: Sendable>(
        failure: any Error, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw failure
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
