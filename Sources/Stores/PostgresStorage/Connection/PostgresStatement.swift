/// One SQL statement with a name of its own. A connection prepares it at its first use there.
///
/// Parameters have the types that the SQL gives them, so each parameter is written with a cast: `$1::bigint`,
/// `$2::text[]`. `TypedStatement` and `RowStatement` write the casts. Keep each statement in a static
/// constant: two different statements must never share a name.
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
    // Each statement sees the rows that were committed when it began: it waits for concurrent changes of a
    // row, and never loses them.
    static let begin = PostgresCall(PostgresStatement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED"))
    /// All of its statements see the same snapshot. It takes no locks and never fails because of another
    /// transaction.
    static let beginReading = PostgresCall(
        PostgresStatement("begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    static let commit = PostgresCall(PostgresStatement("commit", "COMMIT"))
    static let rollback = PostgresCall(PostgresStatement("rollback", "ROLLBACK"))
}
