import AppleAccounts
import Foundation

extension UniqueID {
    /// Returns `nil` unless there are 16 bytes.
    init?(_ data: Data) {
        guard data.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for byte in data.prefix(8) { halves.0 = halves.0 << 8 | UInt64(byte) }
        for byte in data.suffix(8) { halves.1 = halves.1 << 8 | UInt64(byte) }
        self.init(high: halves.0, low: halves.1)
    }

    /// 16 bytes, the most significant first, as PostgreSQL's `uuid` sorts them too.
    var data: Data {
        var data = Data(capacity: 16)
        for half in [high, low] {
            for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
                data.append(UInt8(truncatingIfNeeded: half >> shift))
            }
        }
        return data
    }
}
