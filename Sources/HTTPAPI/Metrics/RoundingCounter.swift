import CoreMetrics

/// Counts fractions as whole numbers: nothing here counts fractions, a library might.
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
