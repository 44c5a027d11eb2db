public import Metrics
import Synchronization

/// Records counters and timers, by the name of the metric and its labels.
public final class RecordingMetrics: MetricsFactory {
    private final class Cell: CounterHandler, TimerHandler {
        let values = Mutex<[Int64]>([])

        func increment(by amount: Int64) { values.withLock { $0.append(amount) } }
        func reset() { values.withLock { $0 = [] } }
        func recordNanoseconds(_ duration: Int64) { values.withLock { $0.append(duration) } }
    }

    private let cells = Mutex<[String: Cell]>([:])

    public init() {}

    /// Each added amount, or each recorded duration in nanoseconds, in order.
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
