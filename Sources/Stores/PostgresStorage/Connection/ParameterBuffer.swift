import AppleAccounts
import CLibPQ

/// The values of one call in PostgreSQL's binary format, in one contiguous buffer.
///
/// Later calls reuse the memory, so after a few calls nothing more is allocated.
struct ParameterBuffer {
    /// Maximum size of a call in bytes. PostgreSQL itself accepts no value of 1 GiB.
    static let largestSize = 256 << 20

    private var bytes: [UInt8] = []
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init() {
        // libpq needs a valid address even if every value is empty.
        bytes.reserveCapacity(4096)
    }

    /// - Throws: `StorageError` `valueRefused` if the values exceed the maximum size of a call.
    mutating func fill(_ values: [PostgresValue]) throws(StorageError) {
        bytes.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        for value in values {
            let start = bytes.count
            let isNull = !append(value)
            guard bytes.count <= Self.largestSize else {
                throw StorageError(.valueRefused, detail: "the values have \(bytes.count) bytes")
            }
            offsets.append(isNull ? -1 : start)
            lengths.append(Int32(bytes.count - start))
        }
        while formats.count < values.count { formats.append(1) }
    }

    /// Passes the arrays that libpq needs (values, lengths and formats) to `body`. They are valid only while
    /// `body` runs.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) ->
            Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: offsets.count) {
                pointers in
                let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                for (index, offset) in offsets.enumerated() {
                    pointers.initializeElement(at: index, to: offset < 0 ? nil : base.map { $0 + offset })
                }
                return lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(
                            pointers.baseAddress.map { UnsafePointer($0) }, lengths.baseAddress,
                            formats.baseAddress)
                    }
                }
            }
        }
    }

    /// Appends a value. Returns `false` for NULL.
    private mutating func append(_ value: PostgresValue) -> Bool {
        switch value {
        case .null: return false
        case .integer(let value): append(bigEndian: value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .uuid(let value): append(value)
        case .boolean(let value): bytes.append(value ? 1 : 0)
        case .array(let value): append(value)
        }
        return true
    }

    /// Writes an array in the form that `array_recv` reads: dimensions, a NULL flag, the type, length and
    /// lower bound, and each element after its length.
    private mutating func append(_ array: PostgresArray) {
        append(bigEndian: UInt32(array.count == 0 ? 0 : 1))
        append(bigEndian: UInt32(array.hasNull ? 1 : 0))
        append(bigEndian: UInt32(array.elementType))
        guard array.count > 0 else { return }
        append(bigEndian: UInt32(truncatingIfNeeded: array.count))
        append(bigEndian: UInt32(1))
        bytes.append(contentsOf: array.bytes)
    }

    private mutating func append(_ id: UniqueID) {
        append(bigEndian: id.high)
        append(bigEndian: id.low)
    }

    @inline(__always)
    private mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
