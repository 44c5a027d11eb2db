import Metrics
import Synchronization

/// Records counters and timers, by the name of the metric and its labels.
final class RecordingMetrics: MetricsFactory {
    private final class Cell: CounterHandler, TimerHandler {
        let values = Mutex<[Int64]>([])

        func increment(by amount: Int64) { values.withLock { $0.append(amount) } }
        func reset() { values.withLock { $0 = [] } }
        func recordNanoseconds(_ duration: Int64) { values.withLock { $0.append(duration) } }
    }

    private let cells = Mutex<[String: Cell]>([:])

    /// Each added amount, or each recorded duration in nanoseconds, in order.
    func values(of name: String) -> [Int64] {
        cells.withLock { $0[name] }?.values.withLock { $0 } ?? []
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        cell(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        cell(label, dimensions)
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func cell(_ label: String, _ dimensions: [(String, String)]) -> Cell {
        let name = ([label] + dimensions.map(\.1)).joined(separator: " ")
        return cells.withLock { cells in
            let cell = cells[name] ?? Cell()
            cells[name] = cell
            return cell
        }
    }
}
