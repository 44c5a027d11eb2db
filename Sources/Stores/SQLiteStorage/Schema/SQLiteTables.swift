package import SQLTables

// GRDB also has a Column and a Table, for its query builder, which this module does not use.
typealias Column<Value> = SQLTables.Column<Value>
typealias Table = SQLTables.Table

/// Every table of the schema, with its columns and their classification. Tests compare this list with the
/// schema and with the erasures.
package enum DeclaredTables {
    package static let all =
        SharedTables.all + [
            SQLiteSubjectTable.declaration, SQLiteCredentialTable.declaration,
        ]
}

/// The table of all teams' users, with the digest that finds a user by key.
struct SQLiteSubjectTable: Table {
    static let name = SubjectTable.name

    let common: SubjectTable
    let keyDigest: Column<KeyDigest>

    init(_ columns: inout ColumnList) {
        common = SubjectTable(&columns)
        keyDigest = columns("key_digest", .personal, .required)
    }
}

/// The table of credentials: one row per user and app. The row number is derived from the digest of the
/// user's key (`KeyDigest.credentialIDs`).
struct SQLiteCredentialTable: Table {
    static let name = CredentialTable.name

    let id: Column<Int64>
    let keyCheck: Column<Int64>
    let common: CredentialTable

    init(_ columns: inout ColumnList) {
        id = columns("id", .personal, .required)
        keyCheck = columns("key_check", .personal, .required)
        common = CredentialTable(&columns)
    }
}
