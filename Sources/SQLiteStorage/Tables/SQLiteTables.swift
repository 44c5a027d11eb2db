import SQLTables

/// The persons of all teams, with what finds a person by the key.
struct SQLiteSubjectTable: Table {
    static let name = SubjectTable.name

    let common: SubjectTable
    let keyDigest: Column<KeyDigest>

    init(_ columns: inout ColumnList) {
        common = SubjectTable(&columns)
        keyDigest = columns("key_digest", .personal)
    }

    /// SQL text that clears everything about the person and gives the row another name.
    ///
    /// - Parameters:
    ///   - subject: SQL of the new name.
    ///   - keyDigest: SQL of its digest.
    static func clearing(subject: String, keyDigest: String) -> String {
        let cleared = sensitiveNames(except: .only { [$0.common.subject, $0.keyDigest] }).cleared
        return "sub = \(subject), key_digest = \(keyDigest), \(cleared)"
    }
}

/// What is known of a person for an app. The number of a row is made of the digest of the person's key
/// (`KeyDigest.credentialIDs`).
struct SQLiteCredentialTable: Table {
    static let name = CredentialTable.name

    let id: Column<Int64>
    let keyCheck: Column<Int64>
    let common: CredentialTable

    init(_ columns: inout ColumnList) {
        id = columns("id", .personal)
        keyCheck = columns("key_check", .personal)
        common = CredentialTable(&columns)
    }
}
