import AppleAccounts
import CLibPQ

/// The values of one call in PostgreSQL's binary format, one after the other in one piece of memory.
///
/// It is used again for the next call, so that after a while nothing is allocated.
struct ParameterBuffer {
    /// One call never sends more. PostgreSQL itself takes no value of 1 GiB.
    static let largestSize = 256 << 20

    private var bytes: [UInt8] = []
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init() {
        // So that there is an address even when every value is empty.
        bytes.reserveCapacity(4096)
    }

    /// - Throws: `StorageError` `valueRefused` when there is more than a call may send.
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

    /// Hands out the arrays that libpq wants, for as long as `body` runs: values, lengths, formats.
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

    /// Returns `false` for NULL.
    private mutating func append(_ value: PostgresValue) -> Bool {
        switch value {
        case .null: return false
        case .integer(let value): return append(value) { $0.append(bigEndian: UInt64(bitPattern: $1)) }
        case .text(let value): return append(value) { $0.bytes.append(contentsOf: $1.utf8) }
        case .bytes(let value): return append(value) { $0.bytes.append(contentsOf: $1) }
        case .uuid(let value): return append(value) { $0.append($1) }
        case .boolean(let value): return append(value) { $0.bytes.append($1 ? 1 : 0) }
        case .rowPlace(let value): return append(value) { $0.append($1) }
        case .transaction(let value): return append(value) { $0.append(bigEndian: $1.value) }
        case .integers(let values):
            append(array: values, of: PostgresType.bigint) { $0.append(bigEndian: UInt64(bitPattern: $1)) }
        case .texts(let values):
            append(array: values, of: PostgresType.text) { $0.bytes.append(contentsOf: $1.utf8) }
        case .byteStrings(let values):
            append(array: values, of: PostgresType.bytes) { $0.bytes.append(contentsOf: $1) }
        case .uuids(let values): append(array: values, of: PostgresType.uuid) { $0.append($1) }
        case .booleans(let values):
            append(array: values, of: PostgresType.boolean) { $0.bytes.append($1 ? 1 : 0) }
        case .rowPlaces(let values): append(array: values, of: PostgresType.rowPlace) { $0.append($1) }
        case .transactions(let values):
            append(array: values, of: PostgresType.transaction) { $0.append(bigEndian: $1.value) }
        }
        return true
    }

    @inline(__always)
    private mutating func append<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) -> Bool {
        guard let value else { return false }
        write(&self, value)
        return true
    }

    /// As `array_recv` reads it: dimensions, whether there is a NULL, the type, length and lower bound, and
    /// each element behind its length.
    @inline(__always)
    private mutating func append<Value>(
        array: [Value?], of type: Oid, _ write: (inout Self, Value) -> Void
    ) {
        append(bigEndian: UInt32(array.isEmpty ? 0 : 1))
        let nullFlag = bytes.count
        append(bigEndian: UInt32(0))
        append(bigEndian: UInt32(type))
        guard !array.isEmpty else { return }
        append(bigEndian: UInt32(truncatingIfNeeded: array.count))
        append(bigEndian: UInt32(1))
        for element in array {
            guard let element else {
                append(bigEndian: UInt32.max)
                bytes[nullFlag + 3] = 1
                continue
            }
            let length = bytes.count
            append(bigEndian: UInt32(0))
            write(&self, element)
            store(bigEndian: UInt32(truncatingIfNeeded: bytes.count - length - 4), at: length)
        }
    }

    private mutating func append(_ id: UniqueID) {
        append(bigEndian: id.high)
        append(bigEndian: id.low)
    }

    private mutating func append(_ place: RowPlace) {
        append(bigEndian: place.block)
        append(bigEndian: place.line)
    }

    @inline(__always)
    private mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    @inline(__always)
    private mutating func store(bigEndian value: UInt32, at offset: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
        }
    }
}
