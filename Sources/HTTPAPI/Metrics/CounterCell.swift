public import CoreMetrics
import Synchronization

/// A number that only grows. Counting is one atomic addition.
public final class CounterCell: CounterHandler {
    private let count = Atomic<Int64>(0)

    init() {}

    public func increment(by amount: Int64) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Prometheus understands a counter that starts again.
    public func reset() {
        count.store(0, ordering: .relaxed)
    }

    var value: Int64 { count.load(ordering: .relaxed) }
}
