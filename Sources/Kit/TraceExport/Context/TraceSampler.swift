/// Decides which traces are recorded: those that their caller records, and of new traces a share.
///
/// The decision about a new trace depends on its ID alone, in the way of OpenTelemetry's consistent sampling, so
/// that programs with the same ratio record the same traces.
public struct TraceSampler: Sendable {
    /// The smallest number in the last seven bytes of an ID that is recorded.
    private let threshold: UInt64

    /// - Parameter ratio: 0 to 1.
    public init(ratio: Double) {
        precondition(ratio >= 0 && ratio <= 1, "a ratio is 0 to 1")
        threshold = UInt64((1 - ratio) * Self.numbers)
    }

    func records(_ id: TraceID) -> Bool { id.low & 0x00FF_FFFF_FFFF_FFFF >= threshold }

    private static let numbers = 72_057_594_037_927_936.0
}
