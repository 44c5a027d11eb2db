package import SQLTables

/// Every table of the schema with its columns, each classified. Tests compare this list with the schema, and
/// with the erasures.
package enum DeclaredTables {
    package static let all =
        SharedTables.all + [
            SQLiteSubjectTable.declaration, SQLiteCredentialTable.declaration,
        ]
}
