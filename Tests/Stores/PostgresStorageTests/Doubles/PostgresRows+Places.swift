import AppleAccounts
import SQLTables

@testable import PostgresStorage

/// Reading by position, for statements that are written in a test and have no table.
extension PostgresRows {
    func integer(_ row: Int, _ place: Int) -> Int64? { value(row, place) }
    func text(_ row: Int, _ place: Int) -> String? { value(row, place) }
    func boolean(_ row: Int, _ place: Int) -> Bool? { value(row, place) }
    func uuid(_ row: Int, _ place: Int) -> UniqueID? { value(row, place) }

    func bytes(_ row: Int, _ place: Int) -> [UInt8]? { value(row, place) }

    private func value<Value: ColumnValue>(_ row: Int, _ place: Int) -> Value? {
        self[row][Column("test", place: Int32(place))]
    }
}
