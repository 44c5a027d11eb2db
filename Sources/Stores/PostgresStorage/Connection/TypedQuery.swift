import SQLTables

/// A statement that reads columns: the result columns, with their positions, and the statement.
///
/// ```swift
/// static let find = TypedQuery<SigningKeyTable, String>("find_key") {
///     $0.add(SigningKeyTable.self)
/// } sql: { list, id in
///     "SELECT \(list) FROM signing_key WHERE key_id = \(id)"
/// }
/// session.run(find.statement(id)).map { try find.columns.key($0) }
/// ```
struct TypedQuery<Columns: Sendable, each Argument: PostgresArgument>: Sendable {
    let columns: Columns
    let statement: TypedStatement<repeat each Argument>

    /// - Parameter name: Unique: two statements must never share a name.
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
