import CLibPQ

/// Where a version of a row stands in its table: PostgreSQL's `ctid`.
///
/// It names another row as soon as the table is written anew (`VACUUM FULL`), and another version when the
/// row has changed. So it finds a row, and never says by itself which one it is.
struct RowPlace: Hashable, Sendable {
    let block: UInt32
    let line: UInt16
}

extension RowPlace: PostgresColumnValue {
    static var sqlType: String { "tid" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.rowPlace, "column \(column) has the type \(type)")
        block = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        line = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    }

    var bound: PostgresValue { .rowPlace(self) }

    static func array(_ values: [RowPlace?]) -> PostgresValue { .rowPlaces(values) }
}

/// The transaction that has written a version of a row: PostgreSQL's `xmin`.
struct TransactionNumber: Hashable, Sendable {
    let value: UInt32
}

extension TransactionNumber: PostgresColumnValue {
    static var sqlType: String { "xid" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.transaction, "column \(column) has the type \(type)")
        value = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
    }

    var bound: PostgresValue { .transaction(self) }

    static func array(_ values: [TransactionNumber?]) -> PostgresValue { .transactions(values) }
}
