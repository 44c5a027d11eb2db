public import Foundation
public import Logging
public import Metrics
import Synchronization

/// Keeps the logs of services that tests start in the folder that `SIWA_TEST_LOGS` names, for
/// `scripts/scan-logs`. Without the variable, no logs are kept.
public enum KeptLogs {
    public static let variable = "SIWA_TEST_LOGS"

    private static var folder: URL? {
        guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Creates an empty log file for a process. If logs are kept, `place` becomes a link to it.
    public static func makeFile(at place: URL) throws {
        guard let folder else {
            _ = FileManager.default.createFile(atPath: place.path, contents: nil)
            return
        }
        let kept = try newFile(in: folder)
        _ = FileManager.default.createFile(atPath: kept.path, contents: nil)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: kept)
    }

    /// Keeps the log of a service that runs in this process.
    public static func keep(_ text: String) throws {
        guard let folder, !text.isEmpty else { return }
        try Data(text.utf8).write(to: newFile(in: folder))
    }

    private static func newFile(in folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("\(UUID().uuidString).log")
    }
}

extension Logger {
    /// Discards log lines, for servers and stores that a test stops or breaks on purpose.
    public static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Records counters and timers by metric name and labels.
public final class RecordingMetrics: MetricsFactory {
    private final class Cell: CounterHandler, TimerHandler {
        let values = Mutex<[Int64]>([])

        func increment(by amount: Int64) { values.withLock { $0.append(amount) } }
        func reset() { values.withLock { $0 = [] } }
        func recordNanoseconds(_ duration: Int64) { values.withLock { $0.append(duration) } }
    }

    private let cells = Mutex<[String: Cell]>([:])

    public init() {}

    /// The added amounts of a counter, or the recorded durations of a timer in nanoseconds, in order.
    public func values(of name: String) -> [Int64] {
        cells.withLock { $0[name] }?.values.withLock { $0 } ?? []
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        cell(label, dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        cell(label, dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        NOOPMetricsHandler.instance
    }

    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func cell(_ label: String, _ dimensions: [(String, String)]) -> Cell {
        let name = ([label] + dimensions.map(\.1)).joined(separator: " ")
        return cells.withLock { cells in
            let cell = cells[name] ?? Cell()
            cells[name] = cell
            return cell
        }
    }
}

extension StringProtocol {
    /// The text of an attribute as a browser reads it. Knows only the escapes that our pages use.
    public var htmlUnescaped: String {
        String(self).replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
