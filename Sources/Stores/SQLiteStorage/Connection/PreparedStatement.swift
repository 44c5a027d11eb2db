import AppleAccounts
import GRDB
import SQLTables

/// One SQL statement of one connection, prepared once and then only bound and stepped.
///
/// Values are bound to parameters and read from columns by numbers that were computed when the statement was
/// prepared. GRDB's own way binds through an array of enumerations and reads rows through an object for each
/// query. Not thread-safe: a statement stays on the queue of its connection. A statement that failed must not
/// be used again.
///
/// SQLite keeps a bound value until the next `begin`. GRDB's `bind(to:at:)` binds with SQLITE_TRANSIENT, so
/// that SQLite copies the value; its `withBinding` binds without a copy and must not be used here. The result
/// of `fromStatement` is a copy too: SQLite frees its own memory of a column at the next step.
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

    /// Prepares the statement for new values. All parameters are NULL until they are bound.
    func begin() {
        precondition(!hasFailed, "a failed statement was used again")
        if !isReady { reset() }
        isReady = false
    }

    /// Releases the rows, so that no snapshot stays open.
    func finish() {
        // Resetting a failed statement fails again.
        guard !hasFailed else { return }
        reset()
        isReady = true
    }

    private func reset() {
        // Tells GRDB that the values are bound by other means, and resets.
        _statement.setUncheckedArguments([])
        _isDone = false
        row = nil
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
}

// Binding. A parameter is NULL until it is bound.
extension PreparedStatement: WritableRow {
    @inline(__always)
    func bind<Value: ColumnValue>(_ value: Value?, to parameter: Parameter<Value>) {
        bind(value, number: parameter.number)
    }

    func bind(_ range: ClosedRange<Int64>, to parameters: RangeParameters) {
        bind(range.lowerBound, to: parameters.first)
        bind(range.upperBound, to: parameters.last)
    }

    @inline(__always)
    func set<Value: ColumnValue>(_ column: Column<Value>, _ value: Value?) {
        guard column.place >= 0 else { return }
        bind(value, number: column.place + 1)
    }

    @inline(__always)
    private func bind<Value: ColumnValue>(_ value: Value?, number: Int32) {
        guard let value else { return }
        var slot = SQLiteSlot(_statement.sqliteStatement, number: number)
        value.put(into: &slot)
        // This fails only for a number that the statement does not have, or while the statement is running.
        precondition(
            slot.code == ResultCode.SQLITE_OK.rawValue,
            "the statement has no parameter \(number), or is running")
    }
}

// Reading the current row.
extension PreparedStatement: ReadableRow {
    @inline(__always)
    subscript<Value: ColumnValue>(_ column: Column<Value>) -> Value? {
        guard let row else { return nil }
        precondition(column.place >= 0, "the statement does not select this column")
        return Value(cell: SQLiteCell(statement: row, place: column.place))
    }

    /// Returns the value of a statement with one column; `nil` for NULL.
    func onlyValue<Value: ColumnValue>(as type: Value.Type) -> Value? {
        precondition(_statement.columnCount == 1, "the statement has several columns")
        return row.flatMap { Value(cell: SQLiteCell(statement: $0, place: 0)) }
    }

    func missingValue(in column: any AnyColumn) -> StorageError {
        StorageError(
            .corrupted,
            detail: "expected a value in column \(column.name), found none that can be read; check the file "
                + "with PRAGMA integrity_check, and restore a backup. Statement: \(_statement.sql)")
    }
}
