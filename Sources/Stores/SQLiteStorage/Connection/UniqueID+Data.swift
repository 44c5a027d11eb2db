import AppleAccounts
import Foundation

extension UniqueID {
    /// Returns `nil` unless there are 16 bytes.
    init?(_ data: Data) {
        guard data.count == 16 else { return nil }
        let (high, low) = data.withUnsafeBytes { $0.halves }
        self.init(high: high, low: low)
    }

    /// 16 bytes, the most significant first, so that they sort as PostgreSQL's `uuid`.
    var data: Data {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
    }
}

extension UnsafeRawBufferPointer {
    /// The first 16 bytes as two numbers, the most significant byte first. At least 16 bytes are required.
    var halves: (high: UInt64, low: UInt64) {
        (
            UInt64(bigEndian: loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}
