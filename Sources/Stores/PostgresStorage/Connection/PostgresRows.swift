import AppleAccounts
import CLibPQ
import SQLTables

/// One statement's result, in PostgreSQL's binary format. It must stay in the block that ran the statement.
final class PostgresRows {
    /// Number of rows in the result.
    let count: Int

    private let result: ResultHandle

    init(_ result: consuming ResultHandle) {
        count = Int(PQntuples(result.pointer))
        self.result = result
    }

    /// Number of rows that an INSERT, UPDATE or DELETE touched, or a SELECT found.
    var affected: Int {
        result.text { UnsafePointer(PQcmdTuples($0)) }.flatMap { Int($0) } ?? 0
    }

    /// The command tag, such as "COMMIT" or "INSERT 0 1".
    var tag: String {
        result.text { UnsafePointer(PQcmdStatus($0)) } ?? ""
    }

    /// Returns the value of a statement with one column and at most one row; `nil` for NULL or an empty
    /// result.
    func onlyValue<Value: ColumnValue>(as type: Value.Type) -> Value? {
        precondition(PQnfields(result.pointer) == 1 && count <= 1, "the result is not one value")
        return first.flatMap { $0[Column<Value>("value", place: 0)] }
    }

    /// Passes a value's bytes and its type to `body`. libpq frees the bytes with the result, so `body` must
    /// copy them. Returns `nil` for NULL.
    @inline(__always)
    fileprivate func read<Value>(
        _ row: Int32, _ place: Int32, _ body: (UnsafeRawBufferPointer, Oid) -> Value?
    ) -> Value? {
        precondition(place >= 0, "the statement does not select this column")
        return withExtendedLifetime(self) {
            guard PQgetisnull(result.pointer, row, place) == 0 else { return nil }
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result.pointer, row, place),
                count: Int(PQgetlength(result.pointer, row, place)))
            return body(bytes, PQftype(result.pointer, place))
        }
    }
}

extension PostgresRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < count, "there is no row \(position)")
        return PostgresRow(rows: self, number: Int32(position))
    }
}

/// One result row. Each column is read as its declared type.
struct PostgresRow: ReadableRow {
    fileprivate let rows: PostgresRows
    fileprivate let number: Int32

    /// Returns a column's value; `nil` for NULL.
    @inline(__always)
    subscript<Value: ColumnValue>(_ column: Column<Value>) -> Value? {
        rows.read(number, column.place) { bytes, type in
            Value(cell: PostgresCell(bytes: bytes, type: type, column: column.name))
        }
    }

    /// Returns a column's value; `nil` for NULL.
    subscript<Value: PostgresSystemValue>(_ column: Column<Value>) -> Value? {
        rows.read(number, column.place) { bytes, type in
            Value(cell: PostgresCell(bytes: bytes, type: type, column: column.name))
        }
    }

    func missingValue(in column: any AnyColumn) -> StorageError {
        StorageError(
            .corrupted,
            detail: "expected a value in column \(column.name), found none that can be read; restore a backup"
        )
    }
}

/// One result value in PostgreSQL's binary format. It is not NULL.
///
/// If the SQL yields a column of another type, the process stops, because that is a programming error.
struct PostgresCell: ColumnCell {
    /// The value's bytes. libpq owns them and frees them with the result.
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

/// A slot for one parameter value.
struct PostgresSlot: ColumnSlot {
    private(set) var value = PostgresValue.null

    mutating func put(_ integer: Int64) { value = .integer(integer) }
    mutating func put(_ text: String) { value = .text(text) }
    mutating func put(_ isTrue: Bool) { value = .boolean(isTrue) }
    mutating func put(_ id: UniqueID) { value = .uuid(id) }
    mutating func put(_ bytes: UnsafeRawBufferPointer) { value = .bytes(Array(bytes)) }
}

/// The location of a row version in its table: PostgreSQL's `ctid`.
///
/// The same location holds another row after the table is rewritten (`VACUUM FULL`), and another version
/// after the row changes. So a location finds a row, but does not identify it.
struct RowPlace: Hashable, Sendable {
    let block: UInt32
    let line: UInt16
}

extension RowPlace: PostgresSystemValue {
    static var sqlType: String { "tid" }
    static var type: Oid { PostgresType.rowPlace }

    init(cell: PostgresCell) {
        cell.require(cell.type == Self.type)
        block = UInt32(bigEndian: cell.bytes.loadUnaligned(as: UInt32.self))
        line = UInt16(bigEndian: cell.bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    }

    func put(into array: inout PostgresArray) { array.put(self) }
}

/// The transaction that wrote a row version: PostgreSQL's `xmin`.
struct TransactionNumber: Hashable, Sendable {
    let value: UInt32
}

extension TransactionNumber: PostgresSystemValue {
    static var sqlType: String { "xid" }
    static var type: Oid { PostgresType.transaction }

    init(cell: PostgresCell) {
        cell.require(cell.type == Self.type)
        value = UInt32(bigEndian: cell.bytes.loadUnaligned(as: UInt32.self))
    }

    func put(into array: inout PostgresArray) { array.put(self) }
}
