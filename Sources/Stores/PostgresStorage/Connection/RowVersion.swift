import CLibPQ

/// Location of a version of a row in its table: PostgreSQL's `ctid`.
///
/// The same location holds another row after the table is rewritten (`VACUUM FULL`), and another version
/// after the row has changed. So it finds a row, but does not identify it.
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

/// The transaction that wrote a version of a row: PostgreSQL's `xmin`.
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
