import Encodings
import Synchronization
public import Tracing

/// A span of this program. If it is sampled, it enters the export queue when it ends.
///
/// The span keeps no error text, because the text could contain anything. `error.type` is the error's code or
/// type.
public final class RecordedSpan: Span {
    static let mostAttributes = 32
    static let mostLinks = 32
    /// Largest size in bytes of a span name, and of a string attribute.
    static let longestText = 256

    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var links: [TraceContext] = []
        var isFailed = false
        var hasEnded = false
    }

    public let context: ServiceContext
    public let trace: TraceContext
    private let parent: SpanID?
    private let kind: SpanKind
    private let startedAt: UInt64
    private let queue: SpanQueue
    private let state: Mutex<State>

    init(
        _ name: String, _ trace: TraceContext, parent: SpanID?, context: ServiceContext, kind: SpanKind,
        startedAt: UInt64, queue: SpanQueue
    ) {
        self.trace = trace
        self.parent = parent
        self.kind = kind
        self.startedAt = startedAt
        self.queue = queue
        var context = context
        context.trace = trace
        self.context = context
        state = Mutex(State(name: name))
    }

    public var isRecording: Bool { trace.isSampled }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    public func set(_ name: String, _ value: SpanAttribute?) {
        guard isRecording, let value else { return }
        state.withLock { $0.attributes.set(name, value: value) }
    }

    public func setStatus(_ status: SpanStatus) {
        if status.code == .error { state.withLock { $0.isFailed = true } }
    }

    /// Does nothing, because this program's spans are so short that the exporter sends no events.
    public func addEvent(_ event: SpanEvent) {}

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        set(
            "error.type",
            .string((error as? any CodedError).flatMap { Self.code(of: $0) } ?? "\(type(of: error))"))
        setStatus(SpanStatus(code: .error))
    }

    private static func code(of error: some CodedError) -> String? {
        (error.code as? any RawRepresentable)?.rawValue as? String
    }

    public func addLink(_ link: SpanLink) {
        guard isRecording, let other = link.context.trace else { return }
        addLink(to: other)
    }

    public func addLink(to other: TraceContext) {
        state.withLock { if $0.links.count < Self.mostLinks { $0.links.append(other) } }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard isRecording else { return }
        let ended: State? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let ended else { return }
        let endedAt = instant().nanosecondsSinceEpoch
        queue.append(
            FinishedSpan(
                name: Self.bounded(ended.name), trace: trace, parent: parent, kind: kind,
                startedAt: startedAt,
                // The end is never before the start, although an operator or NTP may have set the system
                // clock back in the meantime.
                endedAt: max(startedAt, endedAt), attributes: Self.list(ended.attributes),
                links: ended.links, isFailed: ended.isFailed))
    }

    private static func list(_ attributes: SpanAttributes) -> [(name: String, value: FinishedSpan.Value)] {
        var list: [(name: String, value: FinishedSpan.Value)] = []
        attributes.forEach { name, attribute in
            guard list.count < mostAttributes, let value = value(attribute) else { return }
            list.append((bounded(name), value))
        }
        return list.sorted { $0.name < $1.name }
    }

    private static func value(_ attribute: SpanAttribute) -> FinishedSpan.Value? {
        switch attribute {
        case .string(let text): .text(bounded(text))
        case .int32(let number): .number(Int64(number))
        case .int64(let number): .number(number)
        case .bool(let bool): .bool(bool)
        case .stringConvertible(let value): .text(bounded(String(describing: value)))
        // Attributes of other types are dropped, because this program's spans have none.
        default: nil
        }
    }

    private static func bounded(_ text: String) -> String {
        text.utf8.count <= longestText
            ? text : String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
    }
}

/// Names of this program's spans, except request spans, which are named after the method and the path
/// template.
///
/// A tracing system shows one line per name, so no name contains a value from a request.
public enum SpanName: String, Sendable, Hashable, CaseIterable {
    /// A request whose path matches no endpoint.
    case request
    case verify
    case commitAccounts = "commit accounts"
    case commitGrants = "commit grants"
    case fetchKeys = "fetch keys"
    case callApple = "call Apple"
    case callGoogle = "call Google"
    case deliverEvent = "deliver event"
}

/// A finished span, ready for export. All of its strings have a bounded length.
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
    /// Start time in nanoseconds since 1970.
    public let startedAt: UInt64
    public let endedAt: UInt64
    public let attributes: [(name: String, value: Value)]
    public let links: [TraceContext]
    public let isFailed: Bool
}
