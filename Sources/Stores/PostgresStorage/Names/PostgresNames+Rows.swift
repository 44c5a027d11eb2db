import AppleAccounts
import AuthorizationServer
import SQLTables

// Rows that refer to their app by its number.

extension CredentialTable {
    func add(
        _ row: PostgresRow, to record: inout SubjectRecord, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        try add(row, to: &record) { try names.apps.name(of: $0, in: session) }
    }
}

extension OAuthGrantTable {
    func record(
        _ row: PostgresRow, _ names: PostgresNames, in session: PostgresSession
    ) throws -> GrantRecord {
        try record(row, clientID: names.apps.name(of: row.required(appID), in: session))
    }
}
