import AppleAccounts
import SQLTables

/// The parameters of a statement that takes many rows at once: one array for each column.
struct RowParameters: Sendable {
    private var columns: [(name: String, sqlType: String)] = []
    /// How many parameters stand before these.
    private let first: Int

    /// - Parameter before: Another set of rows of the same statement.
    init(after before: RowParameters? = nil) {
        first = before.map { $0.first + $0.columns.count } ?? 0
    }

    /// Adds columns of a table. Returns the table with their places among the parameters.
    mutating func add<T: Table>(_ table: T.Type, _ choice: ColumnChoice<T> = .all) -> T {
        let (placed, chosen) = T.placed(choice, from: count)
        columns += chosen.map { ($0.name.description, Self.sqlType(of: $0)) }
        return placed
    }

    /// Adds a column that the table has in another form, such as a name in the place of its number.
    mutating func add<Value: PostgresColumnValue>(_ name: StaticString, _ type: Value.Type) -> Column<Value> {
        let column = Column<Value>(name, place: Int32(count))
        columns.append((name.description, Value.sqlType))
        return column
    }

    /// How many parameters the statement has, with these.
    var count: Int { first + columns.count }

    var names: ColumnNames { ColumnNames(columns.map(\.name)) }

    /// SQL of the number of rows.
    var rowCount: String { "cardinality(\(parameter(0)))::bigint" }

    /// "unnest($1::bigint[], $2::text[])"
    var unnest: String {
        "unnest(\(columns.indices.map(parameter).joined(separator: ", ")))"
    }

    /// "unnest($1::bigint[], $2::text[]) AS n (id, name)"
    func relation(_ alias: String) -> String { "\(unnest) AS \(alias) (\(names))" }

    /// The same as `relation`, for a statement that runs often: PostgreSQL writes each array that it unnests
    /// to a temporary table of its own first, and takes single elements of an array where it stands.
    ///
    /// Not for texts, nor for columns that are mostly NULL in large batches: an element behind others whose
    /// length varies is found by walking past them.
    func elements(_ alias: String) -> String {
        let elements = columns.indices.map { "(\(parameter($0)))[i] AS \(columns[$0].name)" }
        return "(SELECT \(elements.joined(separator: ", ")) "
            + "FROM generate_series(1, cardinality(\(parameter(0)))) AS i) AS \(alias)"
    }

    private func parameter(_ index: Int) -> String { "$\(first + index + 1)::\(columns[index].sqlType)[]" }

    private static func sqlType(of column: any AnyColumn) -> String {
        switch column.valueType {
        case let type as any PostgresColumnValue.Type: type.sqlType
        // Codes are numbers.
        case is any StorageCode.Type: Int64.sqlType
        default: preconditionFailure("column \(column.name) has no type of PostgreSQL")
        }
    }
}

/// A statement that takes many rows at once.
struct RowStatement: Sendable {
    private let statement: PostgresStatement
    private let count: Int

    /// - Parameter parameters: All of the statement's, the last set of them when there are several.
    init(_ name: String, _ parameters: RowParameters, _ sql: String) {
        statement = PostgresStatement(name, sql)
        count = parameters.count
    }

    /// The statement with the values that `fill` sets, one array for each column.
    func call(_ fill: (inout RowValues) throws -> Void) rethrows -> PostgresCall {
        var values = RowValues(count: count)
        try fill(&values)
        return PostgresCall(statement, values.all)
    }
}

/// The values of a `RowStatement`.
struct RowValues {
    private var values: [PostgresValue?]

    fileprivate init(count: Int) {
        values = Array(repeating: nil, count: count)
    }

    mutating func set<Value: PostgresColumnValue>(_ column: Column<Value>, _ array: [Value?]) {
        values[Int(column.place)] = Value.array(array)
    }

    mutating func set<Value: StorageCode>(_ column: Column<Value>, _ array: [Value?]) {
        values[Int(column.place)] = .integers(array.map { $0?.storageCode })
    }

    /// A column that nothing was set for is a programmer's error and stops the process.
    fileprivate var all: [PostgresValue] {
        values.enumerated().map { number, value in
            guard let value else { preconditionFailure("parameter \(number + 1) has no values") }
            return value
        }
    }
}
