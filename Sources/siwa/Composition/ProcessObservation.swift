import CoreMetrics
import Foundation
import HTTPAPI
import KeySets
import Logging
import TraceExport
import Tracing

/// The logging and metrics of the process: one sink for the request log and swift-log, and a metrics
/// registry.
struct ProcessObservation: Sendable {
    let sink: LogSink
    let logger: Logger
    let registry = MetricsRegistry()
    /// Makes the spans of the process; `nil` without a collector.
    let spans: SpanRecorder?

    init(
        level: Logger.Level, format: LogFormat = .text, traces: TraceSettings? = nil,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        let sink = LogSink(format: format, write: write)
        spans = traces.map { SpanRecorder(sampler: TraceSampler(ratio: $0.ratio)) }
        self.sink = sink
        logger = Logger(label: "siwa") { label in
            LineLogHandler(label: label, level: level, sink: sink, now: Self.millisecondsSince1970)
        }
    }

    /// Logs to standard error, in short lines if that is a terminal, and includes the logs and metrics of libraries. Can be called once per
    /// process.
    static func ofProcess(
        level: Logger.Level, format: LogFormat = .text, traces: TraceSettings? = nil
    ) -> ProcessObservation {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let lines = TerminalLogLines(
            hasColors: TerminalStyle.hasColors(ProcessInfo.processInfo.environment))
        let observation = ProcessObservation(level: level, format: format, traces: traces) { bytes in
            try? FileHandle.standardError.write(contentsOf: isTerminal ? lines.shorten(bytes) : bytes)
        }
        let sink = observation.sink
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, level: level, sink: sink, now: millisecondsSince1970)
        }
        MetricsSystem.bootstrap(observation.registry)
        if let spans = observation.spans { InstrumentationSystem.bootstrap(spans) }
        return observation
    }

    /// Milliseconds since 1970.
    static let millisecondsSince1970: @Sendable () -> Int64 = {
        SystemKeySetClock().millisecondsSince1970
    }
}
