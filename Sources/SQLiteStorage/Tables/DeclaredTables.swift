package import SQLTables

/// Every table of the schema with its columns, each classified. Tests compare it with the schema, and
/// erasures with it.
package enum DeclaredTables {
    package static let all =
        SharedTables.all + [
            SQLiteSubjectTable.declaration, SQLiteCredentialTable.declaration,
        ]
}
