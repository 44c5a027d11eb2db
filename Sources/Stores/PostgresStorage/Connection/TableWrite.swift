import SQLTables

/// A statement that takes many rows of a table at once: the columns, with their places among the parameters, and the
/// statement.
struct TableWrite<T: Table>: Sendable {
    let columns: T
    let statement: RowStatement

    /// - Parameters:
    ///   - name: Unique: two statements must never share a name.
    ///   - choice: The columns that the rows have.
    init(_ name: String, _ choice: ColumnChoice<T> = .all, sql: (RowParameters) -> String) {
        var rows = RowParameters()
        columns = rows.add(T.self, choice)
        statement = RowStatement(name, rows, sql(rows))
    }

    /// Inserts the rows.
    ///
    /// - Parameter conflict: The clause `ON CONFLICT`, if any.
    init(inserting name: String, _ conflict: String = "") {
        self.init(name) { "INSERT INTO \(T.name) (\($0.names)) SELECT * FROM \($0.unnest) \(conflict)" }
    }
}

/// An insertion of rows that have the name of a team or an app in place of its number.
///
/// A name without number violates NOT NULL, so that no row is lost silently.
struct NamedInsert<T: Table, Name: ColumnValue>: Sendable {
    let columns: T
    let name: Column<Name>
    let statement: RowStatement

    /// - Parameters:
    ///   - choice: The columns except the number.
    ///   - table: The table of the names. The column of the number is its name and `_id`.
    ///   - clauses: SQL after the rows, which are named `new`.
    init(
        _ statementName: String, _ choice: ColumnChoice<T>, table: StaticString, _ clauses: String = ""
    ) {
        var rows = RowParameters()
        columns = rows.add(T.self, choice)
        let names = rows.names
        name = rows.add(table, Name.self)
        statement = RowStatement(
            statementName, rows,
            """
            INSERT INTO \(T.name) (\(names), \(table)_id)
            SELECT \(names.of("new")), (SELECT id FROM \(table) WHERE name = new.\(table))
            FROM \(rows.relation("new")) \(clauses)
            """)
    }
}
