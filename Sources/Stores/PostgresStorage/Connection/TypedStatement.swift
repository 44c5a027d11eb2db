import AppleAccounts
import SQLTables

/// One SQL statement with typed arguments. It is called like a function, and its text refers to the
/// parameters by the closure's argument names.
///
/// The text is built once. A `nil` argument is NULL.
struct TypedStatement<each Argument: PostgresArgument>: Sendable {
    let statement: PostgresStatement

    /// - Parameter name: The statement's name. No two statements may share a name.
    init(_ name: String, _ sql: (repeat Parameter<each Argument>) -> String) {
        var count = 0
        func next<Value>(_ type: Value.Type) -> Parameter<Value> {
            count += 1
            return Parameter(number: count)
        }
        statement = PostgresStatement(name, sql(repeat next((each Argument).self)))
    }

    func callAsFunction(_ argument: repeat (each Argument)?) -> PostgresCall {
        var values: [PostgresValue] = []
        repeat values.append((each argument)?.bound ?? .null)
        return PostgresCall(statement, values)
    }
}

/// A statement parameter. Its SQL text is its number with a cast to its type.
struct Parameter<Value: PostgresArgument>: Sendable, CustomStringConvertible {
    fileprivate let number: Int

    var description: String { "$\(number)::\(Value.sqlType)" }
}

/// An array of values, as one argument.
extension Array: PostgresArgument where Element: PostgresElement {
    static var sqlType: String { "\(Element.elementType)[]" }

    var bound: PostgresValue { Element.bound(self) }
}

/// An array element: a value, or a value that may be NULL.
protocol PostgresElement: Sendable {
    static var elementType: String { get }

    static func bound(_ values: [Self]) -> PostgresValue
}

extension Optional: PostgresElement where Wrapped: PostgresColumnValue {
    static var elementType: String { Wrapped.sqlType }

    static func bound(_ values: [Wrapped?]) -> PostgresValue { Wrapped.array(values) }
}

/// A statement that reads columns, with its result columns and their positions.
///
/// ```swift
/// static let find = TypedQuery<SigningKeyTable, String>("find_key") {
///     $0.add(SigningKeyTable.self)
/// } sql: { list, id in
///     "SELECT \(list) FROM signing_key WHERE key_id = \(id)"
/// }
/// session.run(find.statement(id)).map { try find.columns.record($0) }
/// ```
struct TypedQuery<Columns: Sendable, each Argument: PostgresArgument>: Sendable {
    let columns: Columns
    let statement: TypedStatement<repeat each Argument>

    /// - Parameter name: The statement's name. No two statements may share a name.
    init(
        _ name: String, _ columns: (inout SelectList) -> Columns,
        sql: (SelectList, repeat Parameter<each Argument>) -> String
    ) {
        var list = SelectList()
        self.columns = columns(&list)
        statement = TypedStatement(name) { (parameter: repeat Parameter<each Argument>) in
            sql(list, repeat each parameter)
        }
    }
}

extension TypedQuery where Columns: Table {
    /// Creates a query for all columns of a table.
    ///
    /// - Parameter clauses: SQL that follows the table's name.
    init(rows name: String, _ clauses: (repeat Parameter<each Argument>) -> String) {
        self.init(name) {
            $0.add(Columns.self)
        } sql: { (list: SelectList, parameter: repeat Parameter<each Argument>) in
            "SELECT \(list) FROM \(Columns.name) \(clauses(repeat each parameter))"
        }
    }
}

/// One SQL statement with a unique name. Each connection prepares it at first use.
///
/// Each parameter is written with a cast that gives it its type: `$1::bigint`, `$2::text[]`. `TypedStatement`
/// and `RowStatement` write the casts. Keep each statement in a static constant, because two different
/// statements must never share a name.
struct PostgresStatement: Sendable {
    let name: String
    let sql: String

    init(_ name: String, _ sql: String) {
        (self.name, self.sql) = (name, sql)
    }
}

/// A statement with its values, ready to be sent.
struct PostgresCall: Sendable {
    let statement: PostgresStatement
    let values: [PostgresValue]

    init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
        (self.statement, self.values) = (statement, values)
    }
}

extension PostgresCall {
    // Begins a transaction in which each statement sees the rows that were committed when the statement
    // began. A statement waits for concurrent changes of a row, so it never loses them.
    static let begin = PostgresCall(PostgresStatement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED"))
    /// Begins a transaction in which all statements see the same snapshot. It takes no locks, and never fails
    /// because of another transaction.
    static let beginReading = PostgresCall(
        PostgresStatement("begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    static let commit = PostgresCall(PostgresStatement("commit", "COMMIT"))
    static let rollback = PostgresCall(PostgresStatement("rollback", "ROLLBACK"))
}
