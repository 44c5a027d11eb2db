import CoreMetrics
import Synchronization

/// A counter metric. An increment is one atomic addition.
final class CounterCell: CounterHandler {
    private let count = Atomic<Int64>(0)

    init() {}

    func increment(by amount: Int64) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Resets the counter to 0. Prometheus detects the reset.
    func reset() {
        count.store(0, ordering: .relaxed)
    }

    var value: Int64 { count.load(ordering: .relaxed) }
}

/// Rounds fractional increments to whole numbers. Only libraries use this counter.
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

/// A gauge, whose value can rise and fall.
final class GaugeCell: MeterHandler {
    private let bits = Atomic<UInt64>(0)

    init() {}

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func increment(by amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, current) = bits.compareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = current
        }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

/// A histogram metric. Recording a value costs three atomic additions.
final class HistogramCell: RecorderHandler, TimerHandler {
    /// The upper bounds of the buckets, ascending, in the recorded unit.
    let bounds: [Int64]
    /// Factor from the recorded to the displayed unit: 1e-9 for nanoseconds displayed as seconds.
    let scale: Double
    private let buckets: [CounterCell]
    private let sum = CounterCell()

    init(bounds: [Int64], scale: Double) {
        self.bounds = bounds
        self.scale = scale
        buckets = (0...bounds.count).map { _ in CounterCell() }
    }

    func record(_ value: Int64) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        buckets[index].increment(by: 1)
        sum.increment(by: value)
    }

    func record(_ value: Double) {
        // Replaces a value that no integer can represent, because converting it would crash the process.
        record(Int64(exactly: value.rounded()) ?? Int64.max / 2)
    }

    func recordNanoseconds(_ duration: Int64) { record(duration) }

    /// Number of values in each bucket. The last bucket holds the values above all bounds.
    var counts: [Int64] { buckets.map(\.value) }

    /// Cumulative number of values up to each bound, the number of all values, and the sum of the values in
    /// the displayed unit.
    var reading: (cumulative: [Int64], sum: Double) {
        var total: Int64 = 0
        let cumulative = buckets.map { bucket in
            total += bucket.value
            return total
        }
        return (cumulative, Double(sum.value) * scale)
    }

    /// Bounds from 100 microseconds to 10 seconds, in nanoseconds.
    static let latencies: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// Bounds that are powers of two up to 4096.
    static let sizes: [Int64] = (0...12).map { 1 << $0 }
}
