import AppleAccounts
import Foundation
import GRDB

/// One SQL statement of one connection, prepared once and then only bound and stepped.
///
/// GRDB's own way binds through an array of enumerations and reads rows through an object for each query;
/// here values go straight to the statement and come straight from it. Not thread-safe: it stays on its
/// connection's queue. A statement that failed must not be used again.
///
/// SQLite keeps a bound value until the next `begin`. GRDB's `bind(to:at:)` binds with SQLITE_TRANSIENT, so that SQLite
/// copies it; its `withBinding` binds without a copy and must not be used here. What `fromStatement` returns is a copy too:
/// SQLite's own memory of a column is gone with the next step.
final class PreparedStatement: DatabaseCursor {
    typealias Element = OpaquePointer

    let _statement: Statement
    var _isDone = false
    private var row: OpaquePointer?
    private var hasFailed = false
    private var isReady = false

    init(_ sql: String, in database: Database) throws {
        _statement = try database.makeStatement(sql: sql)
    }

    func _element(sqliteStatement: OpaquePointer) throws -> OpaquePointer { sqliteStatement }

    /// Makes it ready for new values. All of them are NULL until they are bound.
    func begin() {
        precondition(!hasFailed, "a failed statement was used again")
        if !isReady { reset() }
        isReady = false
    }

    /// Lets go of what it read, so that no snapshot stays open.
    func finish() {
        // To reset a failed statement fails again.
        guard !hasFailed else { return }
        reset()
        isReady = true
    }

    private func reset() {
        // Says that the values are bound by other means, and resets.
        _statement.setUncheckedArguments([])
        _isDone = false
        row = nil
    }

    /// Binds the value with this number, from 1.
    func bind(_ value: Int64?, at index: Int32) {
        guard let value else { return }
        check(value.bind(to: _statement.sqliteStatement, at: index))
    }

    /// Binds the ends of a range with this number and the next.
    func bind(_ range: ClosedRange<Int64>, at index: Int32) {
        bind(range.lowerBound, at: index)
        bind(range.upperBound, at: index + 1)
    }

    func bind(_ moment: Moment?, at index: Int32) {
        bind(moment?.milliseconds, at: index)
    }

    func bind(_ text: String?, at index: Int32) {
        guard let text else { return }
        check(text.bind(to: _statement.sqliteStatement, at: index))
    }

    func bind(_ data: Data, at index: Int32) {
        check(data.bind(to: _statement.sqliteStatement, at: index))
    }

    func bind(_ bytes: [UInt8], at index: Int32) {
        check(Data(bytes).bind(to: _statement.sqliteStatement, at: index))
    }

    func bind(_ id: UniqueID?, at index: Int32) {
        guard let id else { return }
        check(id.data.bind(to: _statement.sqliteStatement, at: index))
    }

    /// Runs a statement that has no rows.
    func execute() throws {
        do {
            try _statement.execute()
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// Goes to the next row. Returns `false` past the last one.
    func step() throws -> Bool {
        do {
            row = try next()
        } catch {
            hasFailed = true
            throw error
        }
        return row != nil
    }

    /// The column with this number, from 0, of the row that was stepped to.
    func integer(_ index: Int32) -> Int64? {
        guard let row else { return nil }
        return Int64.fromStatement(row, atUncheckedIndex: index)
    }

    func moment(_ index: Int32) -> Moment? {
        integer(index).map { Moment(milliseconds: $0) }
    }

    func text(_ index: Int32) -> String? {
        guard let row else { return nil }
        return String.fromStatement(row, atUncheckedIndex: index)
    }

    func data(_ index: Int32) -> Data? {
        guard let row else { return nil }
        return Data.fromStatement(row, atUncheckedIndex: index)
    }

    func bytes(_ index: Int32) -> [UInt8]? {
        data(index).map { Array($0) }
    }

    func uniqueID(_ index: Int32) -> UniqueID? {
        data(index).flatMap { UniqueID($0) }
    }

    private func check(_ code: Int32) {
        // Only a wrong index or a statement that is running can fail here.
        precondition(code == ResultCode.SQLITE_OK.rawValue, "a value could not be bound")
    }
}
