/// The ID of a trace: 16 bytes that are not all zero (W3C Trace Context §3.2.2.3).
public struct TraceID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// 32 digits in lower case.
    public var text: String {
        String(unsafeUninitializedCapacity: 32) { output in
            LowercaseHex.write(high, to: output, at: 0)
            LowercaseHex.write(low, to: output, at: 16)
            return 32
        }
    }
}

/// The ID of a span: 8 bytes that are not all zero.
public struct SpanID: Sendable, Hashable {
    let value: UInt64

    init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// 16 digits in lower case.
    public var text: String {
        String(unsafeUninitializedCapacity: 16) { output in
            LowercaseHex.write(value, to: output, at: 0)
            return 16
        }
    }
}
