/// A program that takes spans, such as the OpenTelemetry Collector.
public protocol TraceCollector: Sendable {
    /// Posts a document. Returns when the collector has accepted it.
    ///
    /// - Parameter limit: The time after which the call must have ended.
    /// - Throws: `TraceExportError`.
    func post(_ document: [UInt8], within limit: Duration) async throws
}

/// The reason for which spans were not taken.
public struct TraceExportError: Error, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        case unreachable, timedOut = "timed_out", refused
    }

    public let code: Code
    /// The status of a response.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }
}
