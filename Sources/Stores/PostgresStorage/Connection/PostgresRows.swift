import AppleAccounts
import CLibPQ
import SQLTables

/// The result of one statement, in PostgreSQL's binary format. It stays in the block that ran the statement.
final class PostgresRows {
    /// Number of rows to read.
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

    /// Command tag: "COMMIT", "INSERT 0 1".
    var tag: String {
        result.text { UnsafePointer(PQcmdStatus($0)) } ?? ""
    }

    /// Returns the value of a statement with one column and at most one row; `nil` for NULL and without a
    /// row.
    func onlyValue<Value: ColumnValue>(as type: Value.Type) -> Value? {
        precondition(PQnfields(result.pointer) == 1 && count <= 1, "the result is not one value")
        return first.flatMap { $0[Column<Value>("value", place: 0)] }
    }

    /// Lends the bytes of a value and its type. libpq frees the bytes with the result, so `body` must copy
    /// them. Returns `nil` for NULL.
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

/// One row of a result. A column is read as the type that it is declared with.
struct PostgresRow: ReadableRow {
    fileprivate let rows: PostgresRows
    fileprivate let number: Int32

    /// Returns `nil` for NULL.
    @inline(__always)
    subscript<Value: ColumnValue>(_ column: Column<Value>) -> Value? {
        rows.read(number, column.place) { bytes, type in
            Value(cell: PostgresCell(bytes: bytes, type: type, column: column.name))
        }
    }

    /// Returns `nil` for NULL.
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
