import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// One SQL statement on one connection, prepared once and then only bound and stepped.
///
/// Values are bound to parameters and read from columns by numbers that are computed when the statement is
/// prepared. GRDB's own API is not used, because it binds through an array of enumerations and reads rows
/// through an object for each query. Not thread-safe: a statement must stay on its connection's queue. A
/// statement that failed must not be used again.
///
/// SQLite keeps a bound value until the next `begin`. GRDB's `bind(to:at:)` binds with SQLITE_TRANSIENT, so
/// SQLite copies the value; GRDB's `withBinding` binds without a copy and must not be used here. The result
/// of `fromStatement` is a copy too, because SQLite frees a column's memory at the next step.
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

    /// Resets the statement for new values. All parameters are NULL until they are bound.
    func begin() {
        precondition(!hasFailed, "a failed statement was used again")
        if !isReady { reset() }
        isReady = false
    }

    /// Resets the statement after its last row, so that it does not keep a snapshot open.
    func finish() {
        // Resetting a failed statement would report its failure again.
        guard !hasFailed else { return }
        reset()
        isReady = true
    }

    private func reset() {
        // This call marks the arguments as set, because GRDB does not see the values that are bound here. It
        // also resets the statement.
        _statement.setUncheckedArguments([])
        _isDone = false
        row = nil
    }

    /// Runs a statement that returns no rows.
    func execute() throws {
        do {
            try _statement.execute()
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// Moves to the next row. Returns `false` after the last row.
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

// These functions bind values. Parameters are NULL until they are bound.
extension PreparedStatement: WritableRow {
    @inline(__always)
    func bind<Value: ColumnValue>(_ value: Value?, to parameter: Parameter<Value>) {
        bind(value, number: parameter.number)
    }

    /// Binds a value to each parameter.
    func bind(_ values: [SQLValue]) {
        for (index, value) in values.enumerated() {
            let number = Int32(index + 1)
            switch value {
            case .null: break
            case .integer(let integer): bind(integer, number: number)
            case .text(let text): bind(text, number: number)
            case .boolean(let isTrue): bind(isTrue, number: number)
            case .uniqueID(let id): bind(id, number: number)
            case .bytes(let bytes): bind(bytes, number: number)
            }
        }
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
        // Binding fails only for a parameter number that the statement does not have, or while the statement
        // is running.
        precondition(
            slot.code == ResultCode.SQLITE_OK.rawValue,
            "the statement has no parameter \(number), or is running")
    }
}

// These functions read the current row.
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

/// One column in a statement's current row.
struct SQLiteCell: ColumnCell {
    let statement: OpaquePointer
    let place: Int32

    func integer() -> Int64? { Int64.fromStatement(statement, atUncheckedIndex: place) }

    func text() -> String? { String.fromStatement(statement, atUncheckedIndex: place) }

    /// SQLite stores Booleans as 0 and 1.
    func boolean() -> Bool? { integer().map { $0 == 1 } }

    func uniqueID() -> UniqueID? {
        Data.fromStatement(statement, atUncheckedIndex: place).flatMap { UniqueID($0) }
    }

    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        Data.fromStatement(statement, atUncheckedIndex: place)?.withUnsafeBytes(make)
    }
}

/// One statement parameter. SQLite copies bound values.
struct SQLiteSlot: ColumnSlot {
    let statement: OpaquePointer
    let number: Int32
    /// SQLite's result code for the last binding.
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

/// One prepared SELECT with one parameter, and its result columns.
final class KeyedSelect<Key: ColumnValue, Columns> {
    let columns: Columns
    private let statement: PreparedStatement
    private let key: Parameter<Key>

    init(
        in database: Database, _ columns: (inout SelectList) -> Columns,
        sql: (SelectList, Parameter<Key>) -> String
    ) throws {
        var (list, parameters) = (SelectList(), ParameterList())
        self.columns = columns(&list)
        key = parameters.add(Key.self)
        statement = try PreparedStatement(sql(list, key), in: database)
    }

    /// Runs the query, and reads each row.
    func all<Value>(_ value: Key, _ read: (Columns, PreparedStatement) throws -> Value) throws -> [Value] {
        statement.begin()
        statement.bind(value, to: key)
        defer { statement.finish() }
        var found: [Value] = []
        while try statement.step() { found.append(try read(columns, statement)) }
        return found
    }

    /// Runs the query, and reads the first row. Returns `nil` if there is no row.
    func first<Value>(
        _ value: Key, _ read: (Columns, PreparedStatement) throws -> Value
    ) throws -> Value? {
        statement.begin()
        statement.bind(value, to: key)
        defer { statement.finish() }
        return try statement.step() ? try read(columns, statement) : nil
    }
}

extension KeyedSelect where Columns: Table {
    /// Prepares a query for a table's rows with a given value in one column.
    convenience init(in database: Database, by column: String) throws {
        try self.init(in: database) {
            $0.add(Columns.self)
        } sql: {
            "SELECT \($0) FROM \(Columns.name) WHERE \(column) = \($1)"
        }
    }
}

extension KeyedSelect where Columns == Void {
    /// Prepares a query that checks whether a row exists.
    convenience init(in database: Database, _ sql: (Parameter<Key>) -> String) throws {
        try self.init(in: database) { _ in
        } sql: {
            sql($1)
        }
    }

    func hasRow(_ value: Key) throws -> Bool { try first(value) { _, _ in true } ?? false }
}

/// One prepared change with one parameter.
struct KeyedChange<Key: ColumnValue> {
    private let statement: PreparedStatement
    private let key: Parameter<Key>

    init(in database: Database, _ sql: (Parameter<Key>) -> String) throws {
        var parameters = ParameterList()
        key = parameters.add(Key.self)
        statement = try PreparedStatement(sql(key), in: database)
    }

    func callAsFunction(_ value: Key) throws {
        statement.begin()
        statement.bind(value, to: key)
        try statement.execute()
    }
}
