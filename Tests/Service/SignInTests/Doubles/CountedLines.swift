import Logging
import Synchronization

/// Counts the lines of a log.
final class CountedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: CountedLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.total.add(1, ordering: .relaxed)
        }
    }

    private let total = Atomic(0)

    var count: Int { total.load(ordering: .relaxed) }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
