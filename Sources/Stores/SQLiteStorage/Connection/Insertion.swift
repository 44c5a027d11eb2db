import GRDB
import SQLTables

/// The text of an INSERT of one row, derived from the declaration of its table.
struct Insertion<T: Table>: Sendable {
    let columns: T
    let sql: String

    /// - Parameters:
    ///   - choice: The columns that get a value.
    ///   - conflict: SQL text of the action for an existing row.
    init(_ choice: ColumnChoice<T> = .all, conflict: String = "") {
        var parameters = ParameterList()
        let bound = parameters.add(columnsOf: T.self, choice)
        columns = bound.columns
        sql = "INSERT INTO \(T.name) (\(bound.names)) VALUES (\(bound.values)) \(conflict)"
    }

    /// Inserts one row with a statement that is not kept, for rare inserts.
    func run(in database: Database, _ write: (T, PreparedStatement) throws -> Void) throws {
        let statement = try PreparedStatement(sql, in: database)
        statement.begin()
        try write(columns, statement)
        try statement.execute()
    }
}
