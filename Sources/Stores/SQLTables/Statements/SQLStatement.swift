public import AppleAccounts
import StrictJSON

/// The SQL dialect in which a shared statement is rendered.
public enum SQLDialect: Sendable, CaseIterable {
    case sqlite, postgres

    /// SQL that locks the rows of a SELECT. Empty on SQLite, which has one writer and no row locks.
    public var locking: String { clause("FOR UPDATE") }

    /// SQL that locks the rows of a SELECT against changes, but lets other transactions take the same lock.
    var sharing: String { clause("FOR SHARE") }

    /// SQL that locks the rows of a SELECT, and skips rows that another transaction has locked.
    public var skippingLocked: String { clause("FOR UPDATE SKIP LOCKED") }

    /// Returns SQL that locks the rows of one joined table, and skips rows that another transaction has
    /// locked.
    public func skippingLocked(of table: String) -> String { clause("FOR UPDATE OF \(table) SKIP LOCKED") }

    /// SQL that compares strings as bytes, so that the order does not depend on the server's locale. SQLite
    /// does so by default.
    public var byteOrder: String { clause("COLLATE \"C\"") }

    /// Returns SQL for the values of a list, for `IN`. The list is an array in a single parameter.
    public func members(of list: SQLParameter<SQLList>) -> String {
        switch self {
        case .sqlite: "(SELECT value FROM json_each(\(list)))"
        case .postgres: "(SELECT json_array_elements_text((\(list))::json))"
        }
    }

    /// Returns SQL that makes SQLite use an index. Empty on PostgreSQL, which has no such clause.
    func indexed(by index: String) -> String { self == .sqlite ? "INDEXED BY \(index)" : "" }

    private func clause(_ text: String) -> String {
        switch self {
        case .sqlite: ""
        case .postgres: text
        }
    }

    /// Returns a parameter as SQL text. PostgreSQL gets the parameter's type from the cast.
    fileprivate func parameter(_ number: Int, _ form: ColumnForm) -> String {
        switch self {
        case .sqlite: "?\(number)"
        case .postgres: "$\(number)::\(form.postgresType)"
        }
    }
}

extension ColumnForm {
    /// PostgreSQL's type for parameters of this form.
    public var postgresType: String {
        switch self {
        case .integer: "bigint"
        case .text: "text"
        case .boolean: "boolean"
        case .uniqueID: "uuid"
        case .bytes: "bytea"
        }
    }
}

/// A statement's text for each database. Each connection prepares it once, under its name.
public struct SQLText: Sendable {
    /// The statement's name. No two statements may share a name.
    public let name: String
    private let texts: (sqlite: String?, postgres: String?)

    init(_ name: String, only dialect: SQLDialect? = nil, _ text: (SQLDialect) -> String) {
        self.name = name
        texts = (dialect == .postgres ? nil : text(.sqlite), dialect == .sqlite ? nil : text(.postgres))
    }

    public var sqlite: String { required(texts.sqlite) }
    public var postgres: String { required(texts.postgres) }

    private func required(_ text: String?) -> String {
        guard let text else { preconditionFailure("the statement \(name) is for the other database") }
        return text
    }
}

/// A value bound to a parameter.
public enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case boolean(Bool)
    case uniqueID(UniqueID)
    case bytes([UInt8])

    public init(_ value: (some ColumnValue)?) {
        self = .null
        value?.put(into: &self)
    }
}

extension SQLValue: ColumnSlot {
    public mutating func put(_ integer: Int64) { self = .integer(integer) }
    public mutating func put(_ text: String) { self = .text(text) }
    public mutating func put(_ isTrue: Bool) { self = .boolean(isTrue) }
    public mutating func put(_ id: UniqueID) { self = .uniqueID(id) }
    public mutating func put(_ bytes: UnsafeRawBufferPointer) { self = .bytes(Array(bytes)) }
}

/// A statement with its values, ready to run on either database.
public struct SQLCall: Sendable {
    public let text: SQLText
    public let values: [SQLValue]
}

/// One statement for both databases: its result columns, and typed arguments that its text refers to by the
/// closure's parameter names.
///
/// A statement without a natural common form is written once for each database, side by side in one `switch`
/// over the dialect. SQLite accepts no alias in `RETURNING`, and no data changes in a `WITH`.
public struct SQLStatement<Columns: Sendable, each Argument: ColumnValue>: Sendable {
    public let columns: Columns
    public let text: SQLText

    /// - Parameters:
    ///   - name: The statement's name. No two statements may share a name.
    ///   - dialect: The only database that has the statement; `nil` for both.
    public init(
        _ name: String, only dialect: SQLDialect? = nil, _ columns: (inout SelectList) -> Columns,
        sql: (SQLDialect, SelectList, repeat SQLParameter<each Argument>) -> String
    ) {
        var list = SelectList()
        self.columns = columns(&list)
        text = Self.text(name, only: dialect) {
            (dialect: SQLDialect, argument: repeat SQLParameter<each Argument>) in
            sql(dialect, list, repeat each argument)
        }
    }

    private static func text(
        _ name: String, only dialect: SQLDialect? = nil,
        _ sql: (SQLDialect, repeat SQLParameter<each Argument>) -> String
    ) -> SQLText {
        SQLText(name, only: dialect) { dialect in
            var count = 0
            func next<Value: ColumnValue>(_ type: Value.Type) -> SQLParameter<Value> {
                count += 1
                return SQLParameter(description: dialect.parameter(count, Value.form))
            }
            return sql(dialect, repeat next((each Argument).self))
        }
    }

    /// Returns the statement with its arguments. A `nil` argument is NULL.
    public func callAsFunction(_ argument: repeat (each Argument)?) -> SQLCall {
        var values: [SQLValue] = []
        repeat values.append(SQLValue(each argument))
        return SQLCall(text: text, values: values)
    }
}

extension SQLStatement where Columns == Void {
    /// Creates a statement without result columns, or with one column that `SQLSession.value` reads.
    public init(_ name: String, _ sql: (SQLDialect, repeat SQLParameter<each Argument>) -> String) {
        columns = ()
        text = Self.text(name, sql)
    }
}

extension SQLStatement where Columns: Table {
    /// Creates a query for all columns of a table.
    ///
    /// - Parameter clauses: SQL that follows the table's name.
    public init(
        rows name: String, _ clauses: (SQLDialect, repeat SQLParameter<each Argument>) -> String
    ) {
        self.init(name) {
            $0.add(Columns.self)
        } sql: { (dialect: SQLDialect, list: SelectList, argument: repeat SQLParameter<each Argument>) in
            "SELECT \(list) FROM \(Columns.name) \(clauses(dialect, repeat each argument))"
        }
    }
}

/// A list of strings as one parameter, for `SQLDialect.members`.
public struct SQLList: ColumnValue {
    public static var form: ColumnForm { .text }
    private let json: String

    public init(_ texts: [String]) {
        json = String(decoding: JSONValue.array(texts.map { .string($0) }).serialized(), as: UTF8.self)
    }

    public init?(cell: some ColumnCell) { nil }

    public func put(into slot: inout some ColumnSlot) { slot.put(json) }
}

/// A statement parameter, as SQL text.
public struct SQLParameter<Value: ColumnValue>: Sendable, CustomStringConvertible {
    public let description: String
}

/// An INSERT of one row, derived from its table's declaration.
///
/// In a team, app or client number column, the row contains the name, and the statement looks up its number.
/// A name without a number violates NOT NULL, so no row is lost silently.
public struct SQLInsertion<T: Table>: Sendable {
    private let columns: T
    private let text: SQLText
    /// True for each column whose value is a name.
    private let isNamed: [Bool]

    /// - Parameters:
    ///   - name: The statement's name. No two statements may share a name.
    ///   - choice: Columns to insert.
    ///   - conflict: The `ON CONFLICT` clause, if any.
    public init(_ name: String, _ choice: ColumnChoice<T> = .all, conflict: String = "") {
        self.init(name, choice) { _ in conflict }
    }

    /// - Parameter conflict: The `ON CONFLICT` clause for each database.
    public init(
        _ name: String, _ choice: ColumnChoice<T> = .all, conflict: (SQLDialect) -> String
    ) {
        let (placed, chosen) = T.placed(choice)
        columns = placed
        let declared = Dictionary(uniqueKeysWithValues: T.declaration.columns.map { ($0.name, $0) })
        let names = chosen.map(\.name.description)
        isNamed = names.map { declared[$0]?.bound == .nameNumber }
        text = SQLText(name) { dialect in
            let parameters = names.enumerated().map { index, name in
                guard let column = declared[name] else {
                    preconditionFailure("\(T.name) has no column \(name)")
                }
                guard column.bound == .nameNumber else { return dialect.parameter(index + 1, column.form) }
                precondition(name.hasSuffix("_id"), "\(T.name).\(name) does not name a table")
                let table = name.dropLast("_id".count)
                return "(SELECT id FROM \(table) WHERE name = \(dialect.parameter(index + 1, .text)))"
            }
            return """
                INSERT INTO \(T.name) (\(names.joined(separator: ", ")))
                VALUES (\(parameters.joined(separator: ", "))) \(conflict(dialect))
                """
        }
    }

    /// Returns the statement with the row that `write` fills. Columns that `write` does not set are NULL.
    public func callAsFunction(_ write: (T, SQLRow) throws -> Void) rethrows -> SQLCall {
        let row = SQLRow(isNamed)
        try write(columns, row)
        return SQLCall(text: text, values: row.values)
    }
}

/// The values of one row to insert.
public final class SQLRow: WritableRow {
    fileprivate var values: [SQLValue]

    private let isNamed: [Bool]

    fileprivate init(_ isNamed: [Bool]) {
        (self.isNamed, values) = (isNamed, Array(repeating: .null, count: isNamed.count))
    }

    public func set<Value: ColumnValue>(_ column: Column<Value>, _ value: Value?) {
        guard column.place >= 0 else { return }
        precondition(!isNamed[Int(column.place)], "column \(column.name) takes a name, not a number")
        values[Int(column.place)] = SQLValue(value)
    }

    /// Sets a team, app or client number column by name.
    func set(_ column: Column<Int64>, named name: some StoredForm) {
        guard column.place >= 0 else { return }
        values[Int(column.place)] = SQLValue(name)
    }
}
