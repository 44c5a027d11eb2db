import Synchronization

/// Identifies one request in its response, in its error and in the log.
package enum RequestID {
    /// A caller's own ID is used when it is safe in a log line and in a header: 1 to 64 characters of
    /// `[A-Za-z0-9._-]`.
    package static func accept(_ offered: String?) -> String? {
        guard let offered, (1...64).contains(offered.utf8.count), characters.containsAll(of: offered[...])
        else { return nil }
        return offered
    }

    /// A new ID of 13 characters: short enough for a Swift string without an allocation.
    package static func make() -> String {
        // The finalizer of splitmix64 is a bijection, so the IDs of a process never repeat, and consecutive
        // IDs look unrelated.
        var mixed = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return String(unsafeUninitializedCapacity: 13) { output in
            for index in 0..<13 {
                output[index] = digit(mixed & 31)
                mixed >>= 5
            }
            return 13
        }
    }

    private static let counter = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    private static func digit(_ value: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static let characters = ASCIISet(lettersDigitsAnd: "._-")
}
