import AppleAccounts
import CLibPQ
import SQLTables

/// An array parameter in PostgreSQL's binary format: each element after its length.
struct PostgresArray: ColumnSlot, Sendable {
    let elementType: Oid
    private(set) var count = 0
    private(set) var hasNull = false
    /// The elements, without the header.
    private(set) var bytes: [UInt8] = []

    init(of elementType: Oid) {
        self.elementType = elementType
    }

    /// Appends NULL for `nil`.
    mutating func append(_ element: (some ColumnValue)?) {
        if let element { element.put(into: &self) } else { appendNull() }
    }

    mutating func append(_ element: some PostgresSystemValue) {
        element.put(into: &self)
    }

    mutating func appendNull() {
        append(bigEndian: UInt32.max)
        count += 1
        hasNull = true
    }

    mutating func put(_ integer: Int64) {
        begin(length: 8)
        append(bigEndian: integer)
    }

    mutating func put(_ text: String) {
        begin(length: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ isTrue: Bool) {
        begin(length: 1)
        bytes.append(isTrue ? 1 : 0)
    }

    mutating func put(_ id: UniqueID) {
        begin(length: 16)
        append(bigEndian: id.high)
        append(bigEndian: id.low)
    }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        begin(length: bytes.count)
        self.bytes.append(contentsOf: bytes)
    }

    mutating func put(_ place: RowPlace) {
        begin(length: 6)
        append(bigEndian: place.block)
        append(bigEndian: place.line)
    }

    mutating func put(_ transaction: TransactionNumber) {
        begin(length: 4)
        append(bigEndian: transaction.value)
    }

    @inline(__always)
    private mutating func begin(length: Int) {
        append(bigEndian: UInt32(truncatingIfNeeded: length))
        count += 1
    }

    @inline(__always)
    private mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
