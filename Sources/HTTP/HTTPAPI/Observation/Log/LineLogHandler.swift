public import Logging

/// Writes swift-log's messages to the same sink and in the same form as the request log.
public struct LineLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    private let label: String
    private let sink: LogSink
    private let now: @Sendable () -> Int64

    /// `now` gives milliseconds since 1970.
    public init(label: String, level: Logger.Level, sink: LogSink, now: @escaping @Sendable () -> Int64) {
        self.label = label
        logLevel = level
        self.sink = sink
        self.now = now
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var line = sink.line(at: now(), level: Self.name(of: event.level))
        line.field("logger", label)
        line.field("msg", event.message.description)
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            // The error of an event has this name; libraries and this service pass it as metadata.
            if name == "error", event.error == nil {
                line.field("error", value.description)
            } else {
                line.field(metadata: name, value.description)
            }
        }
        if let error = event.error { line.field("error", String(describing: error)) }
        sink.append(line)
    }

    static func name(of level: Logger.Level) -> StaticString {
        switch level {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        case .critical: "critical"
        }
    }
}
