import AppleAccounts
import AuthorizationServer
import SQLTables

// Rows that refer to their client ID and app by number.

extension AuthorizationCodeTable {
    func record(_ row: PreparedStatement, _ names: Names) throws -> AuthorizationCodeRecord {
        try record(
            row, clientID: names.clients.name(of: row.required(clientID)),
            primaryClientID: names.apps.name(of: row.required(appID)))
    }
}

extension RefreshTokenTable {
    func record(_ row: PreparedStatement, _ names: Names) throws -> RefreshTokenRecord {
        try record(
            row, clientID: names.clients.name(of: row.required(clientID)),
            primaryClientID: names.apps.name(of: row.required(appID)))
    }
}

extension ErasureTokenTable {
    func token(_ row: PreparedStatement, _ names: Names) throws -> ErasureToken {
        try token(
            row, clientID: names.clients.name(of: row.required(clientID)),
            primaryClientID: names.apps.name(of: row.required(appID)))
    }
}

extension OAuthGrantTable {
    func record(_ row: PreparedStatement, _ names: Names) throws -> GrantRecord {
        try record(row, clientID: names.apps.name(of: row.required(appID)))
    }
}

extension CredentialTable {
    func add(_ row: PreparedStatement, to record: inout SubjectRecord, _ names: Names) throws {
        try add(row, to: &record) { try names.apps.name(of: $0) }
    }
}
