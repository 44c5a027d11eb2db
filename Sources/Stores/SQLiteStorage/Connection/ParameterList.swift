import GRDB
import SQLTables

/// The parameters of one statement, numbered in the order in which they are added.
struct ParameterList {
    private var count: Int32 = 0

    /// Adds a parameter for one value, and returns it.
    mutating func add<Value>(_ type: Value.Type) -> Parameter<Value> {
        count += 1
        return Parameter(number: count)
    }

    /// Adds the two ends of a number range.
    mutating func addRange() -> RangeParameters {
        RangeParameters(first: add(Int64.self), last: add(Int64.self))
    }

    /// Adds one value for each chosen column of a table.
    mutating func add<T: Table>(columnsOf table: T.Type, _ choice: ColumnChoice<T> = .all) -> BoundColumns<T>
    {
        let (columns, chosen) = T.placed(choice, from: Int(count))
        let bound = BoundColumns(columns: columns, names: chosen.map(\.name.description), after: count)
        count += Int32(chosen.count)
        return bound
    }
}

/// One value in a statement. Its SQL text is "?" followed by its number.
struct Parameter<Value>: Sendable, CustomStringConvertible {
    let number: Int32

    var description: String { "?\(number)" }
}

/// The two ends of a number range, for `BETWEEN`.
struct RangeParameters: Sendable, CustomStringConvertible {
    let first: Parameter<Int64>
    let last: Parameter<Int64>

    var description: String { "\(first) AND \(last)" }
}

/// Table columns as statement parameters. Each parameter number is the column's position, counted from 1.
struct BoundColumns<T: Table>: Sendable {
    let columns: T
    let names: ColumnNames
    /// SQL for VALUES: "?1, ?2".
    let values: String
    /// SQL for an UPDATE: "a = ?1, b = ?2".
    let assignments: String
    /// SQL for a WHERE: "a = ?1 AND b = ?2".
    let conditions: String

    /// Returns SQL for a single parameter: "?3".
    subscript<Value>(_ column: Column<Value>) -> String { "?\(column.place + 1)" }

    fileprivate init(columns: T, names: [String], after count: Int32) {
        self.columns = columns
        self.names = ColumnNames(names)
        let parameters = names.indices.map { "?\(Int(count) + $0 + 1)" }
        values = parameters.joined(separator: ", ")
        let pairs = zip(names, parameters).map { "\($0) = \($1)" }
        assignments = pairs.joined(separator: ", ")
        conditions = pairs.joined(separator: " AND ")
    }
}

/// A statement that inserts one row, derived from its table's declaration.
struct Insertion<T: Table> {
    let columns: T
    private let statement: PreparedStatement

    /// - Parameters:
    ///   - choice: Columns to insert.
    ///   - conflict: SQL text of the action for an existing row.
    init(_ choice: ColumnChoice<T> = .all, conflict: String = "", in database: Database) throws {
        var parameters = ParameterList()
        let bound = parameters.add(columnsOf: T.self, choice)
        columns = bound.columns
        statement = try PreparedStatement(
            "INSERT INTO \(T.name) (\(bound.names)) VALUES (\(bound.values)) \(conflict)", in: database)
    }

    @inline(__always)
    func callAsFunction(_ write: (T, PreparedStatement) throws -> Void) throws {
        statement.begin()
        try write(columns, statement)
        try statement.execute()
    }
}
