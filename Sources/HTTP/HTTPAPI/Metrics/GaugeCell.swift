import CoreMetrics
import Synchronization

/// A number that goes up and down.
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
