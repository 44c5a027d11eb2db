import CoreMetrics
import Foundation
package import HTTPAPI
import KeySets
package import Logging
import TraceExport
import Tracing

/// The process's logging and metrics: a log sink, which the request log and swift-log share, and a metrics
/// registry.
package struct ProcessObservation: Sendable {
    package let sink: LogSink
    package let logger: Logger
    let registry = MetricsRegistry()
    /// Records the process's spans; `nil` if there is no collector.
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

    /// Logs to standard error, in short lines if it is a terminal. Includes libraries' logs and metrics. Call
    /// it once per process.
    package static func ofProcess(
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

    /// Returns the current time in milliseconds since 1970.
    package static let millisecondsSince1970: @Sendable () -> Int64 = {
        SystemKeySetClock().millisecondsSince1970
    }
}

/// Shortens log lines for a terminal. Keeps the time of day, the message and the fields, and the level of
/// warnings and errors.
///
/// Does no I/O. Lines in any other format remain unchanged.
struct TerminalLogLines {
    let hasColors: Bool

    /// - Parameter bytes: Whole lines from `LogSink`.
    func shorten(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            result += (short(line) ?? Array(line)) + [UInt8(ascii: "\n")]
        }
        return result
    }

    private func short(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        let fields = Self.fields(of: line)
        guard let time = fields.first, time.name.elementsEqual("time=".utf8), time.value.count == 24,
            let level = fields.dropFirst().first, level.name.elementsEqual("level=".utf8)
        else { return nil }
        // The time has the format 2026-11-24T00:19:44.123Z.
        var result = Array(time.value.dropFirst(11).prefix(8))
        result = styled(result, "2")
        let word = String(decoding: level.value, as: UTF8.self)
        if let color = Self.colors[word] { result += [0x20] + styled(Array(level.value), color) }
        for field in fields.dropFirst(2) where !field.name.elementsEqual("logger=".utf8) {
            result.append(UInt8(ascii: " "))
            if field.name.elementsEqual("msg=".utf8) {
                // A message without escapes needs no quotation marks.
                let isPlain = !field.value.contains(UInt8(ascii: "\\"))
                result +=
                    isPlain && field.value.first == UInt8(ascii: "\"")
                    ? field.value.dropFirst().dropLast() : field.value
            } else {
                result += field.name + field.value
            }
        }
        return result
    }

    private static let colors = ["warning": "33", "error": "31", "critical": "1;31"]

    private func styled(_ text: [UInt8], _ style: String) -> [UInt8] {
        hasColors ? Array("\u{1B}[\(style)m".utf8) + text + Array("\u{1B}[0m".utf8) : text
    }

    /// Returns the `name=value` pairs. The name includes the equals sign, and the value includes its
    /// quotation marks.
    private static func fields(
        of line: ArraySlice<UInt8>
    ) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        var fields: [(ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
        var rest = line
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[...equals]
            var end = rest.index(after: equals)
            if end < rest.endIndex, rest[end] == UInt8(ascii: "\"") {
                end += 1
                while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
                    end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                end = min(end + 1, rest.endIndex)
            } else {
                while end < rest.endIndex, rest[end] != UInt8(ascii: " ") { end += 1 }
            }
            fields.append((name, rest[rest.index(after: equals)..<end]))
            rest = rest[end...].drop { $0 == UInt8(ascii: " ") }
        }
        return fields
    }
}
