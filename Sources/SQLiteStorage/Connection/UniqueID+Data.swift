import AppleAccounts
import Foundation

extension UniqueID {
    /// Returns `nil` unless there are 16 bytes.
    init?(_ data: Data) {
        guard data.count == 16 else { return nil }
        let (high, low) = data.withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        self.init(high: high, low: low)
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
