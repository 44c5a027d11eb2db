import Synchronization

/// Decides which successful requests have a log line: one of `rate` on average. Refusals and failures have a line
/// always.
///
/// Each request is decided about by itself, so that a caller with a regular pattern is not left out, and a count is
/// restored when each line counts as often as its field `sampled` says.
final class SuccessSampler: Sendable {
    let rate: Int
    private let counter = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    init(oneOf rate: Int) {
        precondition(rate > 0, "one of 0 requests")
        self.rate = rate
    }

    func isLogged() -> Bool {
        guard rate > 1 else { return true }
        var mixed = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % UInt64(rate) == 0
    }
}
