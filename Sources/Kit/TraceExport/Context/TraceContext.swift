public import Tracing

/// The place of a span in its trace, as programs pass it on (W3C Trace Context).
public struct TraceContext: Sendable, Equatable {
    public let traceID: TraceID
    public let spanID: SpanID
    /// True if the span is recorded.
    public let isSampled: Bool
    /// The `tracestate` that came with the context, which is valid; `nil` without one.
    public var state: String?

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool, state: String? = nil) {
        (self.traceID, self.spanID, self.isSampled, self.state) = (traceID, spanID, isSampled, state)
    }

    /// Reads a `traceparent` (§3.2). Returns `nil` for every other text: a program then begins a new trace (§3.4).
    public init?(traceparent: String) {
        let length = 55
        let text = Array(traceparent.utf8.prefix(length + 1))
        let hyphen = UInt8(ascii: "-")
        guard text.count >= length, text[2] == hyphen, text[35] == hyphen, text[52] == hyphen,
            let version = LowercaseHex.read(text[0..<2]), version != 0xFF,
            // A later version may have more fields behind a hyphen, and version 00 has none.
            text.count == length || (version > 0 && text[length] == hyphen),
            let high = LowercaseHex.read(text[3..<19]), let low = LowercaseHex.read(text[19..<35]),
            let span = LowercaseHex.read(text[36..<52]), let flags = LowercaseHex.read(text[53..<55]),
            let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    /// The field `traceparent` for a program that this program calls.
    public var traceparent: String { "00-\(traceID.text)-\(spanID.text)-\(isSampled ? "01" : "00")" }
}

extension ServiceContext {
    /// The span that work belongs to.
    public var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    public init(_ trace: TraceContext) {
        self = .topLevel
        self.trace = trace
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
}
