import Synchronization

/// Makes the IDs of traces and spans.
///
/// They name, and protect nothing, so they need not be secret: the finalizer of splitmix64 is a bijection, so the
/// spans of a process never repeat, and the beginning is random in each process.
final class TraceIDs: Sendable {
    private let counter: Atomic<UInt64>
    /// Differs between processes whose counters meet.
    private let process: UInt64

    /// - Parameter seed: `nil` for random IDs.
    init(seed: UInt64? = nil) {
        counter = Atomic(seed ?? .random(in: .min ... .max))
        process = seed ?? .random(in: .min ... .max)
    }

    func trace() -> TraceID {
        while true {
            let low = next()
            if let id = TraceID(high: Self.mixed(low ^ process), low: low) { return id }
        }
    }

    func span() -> SpanID {
        while true {
            if let id = SpanID(next()) { return id }
        }
    }

    private func next() -> UInt64 {
        Self.mixed(counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
