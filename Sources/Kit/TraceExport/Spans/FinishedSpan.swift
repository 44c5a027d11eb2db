public import Tracing

/// A span as it is exported. All its texts are bounded.
public struct FinishedSpan: Sendable {
    public enum Value: Sendable, Equatable {
        case text(String)
        case number(Int64)
        case bool(Bool)
    }

    public let name: String
    public let trace: TraceContext
    public let parent: SpanID?
    public let kind: SpanKind
    /// Nanoseconds since 1970.
    public let startedAt: UInt64
    public let endedAt: UInt64
    public let attributes: [(name: String, value: Value)]
    public let links: [TraceContext]
    public let isFailed: Bool
}
