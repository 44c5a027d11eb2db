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
        result.text { UnsafePointer(PQcmdTuples($0)) }.flatMap { Int($0) } ?? 0
    }

    /// What was done: "COMMIT", "INSERT 0 1".
    var tag: String {
        result.text { UnsafePointer(PQcmdStatus($0)) } ?? ""
    }

    /// Of a smallint, integer or bigint.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        read(row, column) { bytes, type in
            switch type {
            case PostgresType.bigint: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            case PostgresType.integer: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case PostgresType.smallint: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            default: preconditionFailure("column \(column) has the type \(type)")
            }
        }
    }

    func moment(_ row: Int, _ column: Int) -> Moment? {
        integer(row, column).map { Moment(milliseconds: $0) }
    }

    func text(_ row: Int, _ column: Int) -> String? {
        read(row, column) { bytes, type in
            precondition(
                type == PostgresType.text || type == PostgresType.name || type == PostgresType.varchar,
                "column \(column) has the type \(type)")
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        read(row, column) { bytes, type in
            Self.check(column, type, is: PostgresType.bytes)
            return Array(bytes)
        }
    }

    func uuid(_ row: Int, _ column: Int) -> UniqueID? {
        read(row, column) { bytes, type in
            Self.check(column, type, is: PostgresType.uuid)
            return UniqueID(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    func boolean(_ row: Int, _ column: Int) -> Bool? {
        read(row, column) { bytes, type in
            Self.check(column, type, is: PostgresType.boolean)
            return bytes[0] != 0
        }
    }

    private static func check(_ column: Int, _ type: Oid, is expected: Oid) {
        precondition(type == expected, "column \(column) has the type \(type)")
    }

    /// Lends the bytes of one value and its type. They are libpq's and gone with the result, so `body` copies what it needs.
    @inline(__always)
    private func read<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer, Oid) -> Value
    ) -> Value? {
        precondition(row >= 0 && row < count, "there is no row \(row)")
        let (row, column) = (Int32(row), Int32(column))
        return withExtendedLifetime(self) {
            guard PQgetisnull(result.pointer, row, column) == 0 else { return nil }
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result.pointer, row, column),
                count: Int(PQgetlength(result.pointer, row, column)))
            return body(bytes, PQftype(result.pointer, column))
        }
    }
}
