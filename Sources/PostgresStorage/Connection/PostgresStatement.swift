/// One SQL statement with a name of its own. A connection prepares it at its first use there.
///
/// Parameters have the types that the SQL gives them, so that each is written with a cast: `$1::bigint`, `$2::text[]`.
/// `TypedStatement` and `RowStatement` write them. Kept in a static constant: two different statements must never share a
/// name.
struct PostgresStatement: Sendable {
    let name: String
    let sql: String

    init(_ name: String, _ sql: String) {
        (self.name, self.sql) = (name, sql)
    }
}
