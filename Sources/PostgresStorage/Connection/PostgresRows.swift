import AppleAccounts
import CLibPQ

/// What one statement answered, in PostgreSQL's binary format. It stays in the block that asked.
///
/// A column is read as the type that the SQL gives it; to read it as another is a programmer's error and stops
/// the process. NULL is `nil`.
final class PostgresRows {
    /// How many rows there are to read.
    let count: Int

    private let result: ResultHandle

    init(_ result: consuming ResultHandle) {
        count = Int(PQntuples(result.pointer))
        self.result = result
    }

    /// How many rows an INSERT, UPDATE or DELETE touched, or a SELECT found.
    var affected: Int {
        PQcmdTuples(result.pointer).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// What was done: "COMMIT", "INSERT 0 1".
    var tag: String {
        PQcmdStatus(result.pointer).map { String(cString: $0) } ?? ""
    }

    /// Of a smallint, integer or bigint.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = value(row, column) else { return nil }
        switch type(of: column) {
        case PostgresType.bigint: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case PostgresType.integer: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case PostgresType.smallint: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case let other: preconditionFailure("column \(column) has the type \(other)")
        }
    }

    func moment(_ row: Int, _ column: Int) -> Moment? {
        integer(row, column).map { Moment(milliseconds: $0) }
    }

    func text(_ row: Int, _ column: Int) -> String? {
        guard let bytes = value(row, column) else { return nil }
        let type = type(of: column)
        precondition(
            type == PostgresType.text || type == PostgresType.name || type == PostgresType.varchar,
            "column \(column) has the type \(type)")
        return String(decoding: bytes, as: UTF8.self)
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        guard let bytes = value(row, column) else { return nil }
        check(column, is: PostgresType.bytes)
        return Array(bytes)
    }

    func uuid(_ row: Int, _ column: Int) -> UniqueID? {
        guard let bytes = value(row, column) else { return nil }
        check(column, is: PostgresType.uuid)
        return UniqueID(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    func boolean(_ row: Int, _ column: Int) -> Bool? {
        guard let bytes = value(row, column) else { return nil }
        check(column, is: PostgresType.boolean)
        return bytes[0] != 0
    }

    private func check(_ column: Int, is expected: Oid) {
        let type = type(of: column)
        precondition(type == expected, "column \(column) has the type \(type)")
    }

    private func type(of column: Int) -> Oid {
        PQftype(result.pointer, Int32(column))
    }

    private func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        precondition(row >= 0 && row < count, "there is no row \(row)")
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(result.pointer, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result.pointer, row, column),
            count: Int(PQgetlength(result.pointer, row, column)))
    }
}
