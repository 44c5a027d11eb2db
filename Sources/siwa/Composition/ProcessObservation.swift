import CoreMetrics
import Foundation
import HTTPAPI
import KeySets
import Logging

/// What can be seen of the process: its log, with one sink for the request log and for swift-log, and its metrics.
struct ProcessObservation: Sendable {
    let sink: LogSink
    let logger: Logger
    let registry = MetricsRegistry()

    init(level: Logger.Level, write: @escaping @Sendable ([UInt8]) -> Void) {
        let sink = LogSink(write: write)
        self.sink = sink
        logger = Logger(label: "siwa") { label in
            LineLogHandler(label: label, level: level, sink: sink, now: Self.now)
        }
    }

    /// The one of this process: to standard error, with everything that libraries log and count. Can be made once.
    static func ofProcess(level: Logger.Level) -> ProcessObservation {
        let observation = ProcessObservation(level: level) { bytes in
            try? FileHandle.standardError.write(contentsOf: bytes)
        }
        let sink = observation.sink
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, level: level, sink: sink, now: now)
        }
        MetricsSystem.bootstrap(observation.registry)
        return observation
    }

    /// Milliseconds since 1970.
    static let now: @Sendable () -> Int64 = { SystemKeySetClock().millisecondsSince1970 }
}
