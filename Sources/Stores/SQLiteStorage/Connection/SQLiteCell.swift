import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// One column of a statement's current row.
struct SQLiteCell: ColumnCell {
    let statement: OpaquePointer
    let place: Int32

    func integer() -> Int64? { Int64.fromStatement(statement, atUncheckedIndex: place) }

    func text() -> String? { String.fromStatement(statement, atUncheckedIndex: place) }

    /// Stored as 0 and 1.
    func boolean() -> Bool? { integer().map { $0 == 1 } }

    func uniqueID() -> UniqueID? {
        Data.fromStatement(statement, atUncheckedIndex: place).flatMap { UniqueID($0) }
    }

    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        Data.fromStatement(statement, atUncheckedIndex: place)?.withUnsafeBytes(make)
    }
}

/// One parameter of a statement. SQLite copies bound values.
struct SQLiteSlot: ColumnSlot {
    let statement: OpaquePointer
    let number: Int32
    /// SQLite's result code of the last binding.
    private(set) var code = ResultCode.SQLITE_OK.rawValue

    init(_ statement: OpaquePointer, number: Int32) {
        (self.statement, self.number) = (statement, number)
    }

    mutating func put(_ integer: Int64) { code = integer.bind(to: statement, at: number) }

    mutating func put(_ text: String) { code = text.bind(to: statement, at: number) }

    mutating func put(_ isTrue: Bool) { put(Int64(isTrue ? 1 : 0)) }

    mutating func put(_ id: UniqueID) { code = id.data.bind(to: statement, at: number) }

    mutating func put(_ bytes: UnsafeRawBufferPointer) { code = Data(bytes).bind(to: statement, at: number) }
}

extension KeyDigest: ColumnValue {
    static var form: ColumnForm { .bytes }
    static var bound: ColumnBound? { .length(16...16) }

    init?(cell: some ColumnCell) {
        guard let digest = cell.bytes({ KeyDigest(Data($0)) }) else { return nil }
        self = digest
    }

    func put(into slot: inout some ColumnSlot) { data.withUnsafeBytes { slot.put($0) } }
}
