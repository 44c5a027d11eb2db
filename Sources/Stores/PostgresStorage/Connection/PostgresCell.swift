import AppleAccounts
import CLibPQ
import SQLTables

/// One value of a result in PostgreSQL's binary format. It is not NULL.
///
/// A column of another type in the SQL is a programmer's error and stops the process.
struct PostgresCell: ColumnCell {
    /// Owned by libpq and freed with the result.
    let bytes: UnsafeRawBufferPointer
    let type: Oid
    let column: StaticString

    func integer() -> Int64? {
        switch type {
        case PostgresType.bigint: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case PostgresType.integer: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case PostgresType.smallint: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: preconditionFailure("column \(column) has the type \(type)")
        }
    }

    func text() -> String? {
        require(type == PostgresType.text || type == PostgresType.name || type == PostgresType.varchar)
        return String(decoding: bytes, as: UTF8.self)
    }

    func boolean() -> Bool? {
        require(type == PostgresType.boolean)
        return bytes[0] != 0
    }

    func uniqueID() -> UniqueID? {
        require(type == PostgresType.uuid)
        return UniqueID(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        require(type == PostgresType.bytes)
        return make(bytes)
    }

    @inline(__always)
    func require(_ isRightType: Bool) {
        precondition(isRightType, "column \(column) has the type \(type)")
    }
}

/// One parameter.
struct PostgresSlot: ColumnSlot {
    private(set) var value = PostgresValue.null

    mutating func put(_ integer: Int64) { value = .integer(integer) }
    mutating func put(_ text: String) { value = .text(text) }
    mutating func put(_ isTrue: Bool) { value = .boolean(isTrue) }
    mutating func put(_ id: UniqueID) { value = .uuid(id) }
    mutating func put(_ bytes: UnsafeRawBufferPointer) { value = .bytes(Array(bytes)) }
}
