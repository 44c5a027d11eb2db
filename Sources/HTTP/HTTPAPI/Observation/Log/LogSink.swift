public import Logging
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// Collects log lines in memory and writes them in large chunks.
///
/// Adding a line copies its bytes under a lock, without a system call. The sink writes lines within 100 ms.
/// If the log reader stops reading, the sink drops and counts lines, so that memory use stays bounded and
/// requests do not wait.
public final class LogSink: Service {
    /// Maximum number of buffered bytes. When it is reached, the sink drops new lines.
    static let bound = 4 * 1024 * 1024

    private struct State {
        var bytes: [UInt8] = []
        var dropped = 0
        var sources: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    /// Keeps the output in order if two threads flush at the same time.
    private let writing = Mutex(())
    private let write: @Sendable ([UInt8]) -> Void

    private let format: LogFormat

    /// `write` receives whole lines, and may block.
    public init(format: LogFormat = .text, write: @escaping @Sendable ([UInt8]) -> Void) {
        (self.format, self.write) = (format, write)
    }

    /// Begins a line in this sink's format.
    ///
    /// - Parameter milliseconds: Time of the line, in milliseconds since 1970.
    func line(at milliseconds: Int64, level: StaticString) -> LogLine {
        LogLine(at: milliseconds, level: level, as: format)
    }

    func append(_ line: consuming LogLine) {
        let line = line.finish()
        state.withLock { state in
            guard state.bytes.count < Self.bound else {
                state.dropped += 1
                return
            }
            state.bytes.append(contentsOf: line)
        }
    }

    /// Calls `source` before each write, so that the source can add the lines that are due.
    func beforeFlush(_ source: @escaping @Sendable () -> Void) {
        state.withLock { $0.sources.append(source) }
    }

    /// Writes the buffered lines. Blocks while the log reader blocks.
    public func flush() {
        for source in state.withLock({ $0.sources }) { source() }
        writing.withLock { _ in
            var (bytes, dropped) = state.withLock { state in
                let taken = (state.bytes, state.dropped)
                state.bytes = []
                state.bytes.reserveCapacity(min(taken.0.count, 64 * 1024))
                state.dropped = 0
                return taken
            }
            if dropped > 0 {
                bytes += dropNotice(dropped)
            }
            if !bytes.isEmpty { write(bytes) }
        }
    }

    /// Returns the notice about dropped lines. The notice has no time, because a sink reads no clock.
    private func dropNotice(_ count: Int) -> [UInt8] {
        let fields: StaticString =
            switch format {
            case .text: "level=warning msg=\"log lines dropped\" count="
            case .json: "{\"level\":\"warning\",\"msg\":\"log lines dropped\",\"count\":"
            }
        let end = format == .json ? "}\n" : "\n"
        return Array("\(fields)\(count)\(end)".utf8)
    }

    public func run() async throws {
        try? await cancelWhenGracefulShutdown { try await self.writeRegularly() }
        flush()
    }

    /// Writes lines while `start` runs, so that the log shows a long wait for the database even before the
    /// services start.
    public func writing<Value: Sendable>(during start: () async throws -> Value) async rethrows -> Value {
        // Leaving the scope cancels this task.
        async let _: Void = writeRegularly()
        return try await start()
    }

    private func writeRegularly() async throws {
        while !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(100))
            // The flush runs on its own thread, so that a blocked log reader delays no other work.
            try await NIOThreadPool.singleton.runIfActive { self.flush() }
        }
    }
}

/// A swift-log handler that writes to the same sink and in the same format as the request log.
public struct LineLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    private let label: String
    private let sink: LogSink
    private let now: @Sendable () -> Int64

    /// `now` returns the current time in milliseconds since 1970.
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
            // The log event's own error uses this field name, but libraries and this service also pass an
            // error as metadata.
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
