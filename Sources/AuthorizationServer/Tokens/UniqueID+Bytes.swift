package import AppleAccounts

extension UniqueID {
    /// 16 bytes, the most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
        }
    }

    /// Returns `nil` unless there are 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        let halves = [bytes.prefix(8), bytes.dropFirst(8)].map { half in
            half.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        self.init(high: halves[0], low: halves[1])
    }
}
