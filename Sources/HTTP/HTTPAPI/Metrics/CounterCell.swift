import CoreMetrics
import Synchronization

/// A number that only grows. Counting is one atomic addition.
final class CounterCell: CounterHandler {
    private let count = Atomic<Int64>(0)

    init() {}

    func increment(by amount: Int64) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Prometheus handles a counter that starts again.
    func reset() {
        count.store(0, ordering: .relaxed)
    }

    var value: Int64 { count.load(ordering: .relaxed) }
}

/// Counts fractions as whole numbers. Only libraries may use it.
final class RoundingCounter: FloatingPointCounterHandler {
    private let cell: CounterCell

    init(_ cell: CounterCell) {
        self.cell = cell
    }

    func increment(by amount: Double) {
        cell.increment(by: Int64(exactly: amount.rounded()) ?? 0)
    }

    func reset() { cell.reset() }
}
