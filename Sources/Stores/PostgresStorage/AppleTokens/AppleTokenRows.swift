import AppleAccounts
import SQLTables

/// The columns of an authorization code in a SELECT. The table has the alias `c`, the tables of its client
/// and app `client` and `app`.
struct CodeColumns {
    let code: AuthorizationCodeTable
    let client: Column<ClientID>
    let app: Column<ClientID>

    init(_ list: inout SelectList) {
        code = list.add(AuthorizationCodeTable.self, as: "c", .except { [$0.clientID, $0.appID] })
        client = list.add("client.name AS client", ClientID.self, as: "client")
        app = list.add("app.name AS app", ClientID.self, as: "app")
    }

    func record(_ row: PostgresRow) throws(StorageError) -> AuthorizationCodeRecord {
        try code.record(row, clientID: row.required(client), primaryClientID: row.required(app))
    }
}

/// The columns of a refresh token in a SELECT. The table has the alias `t`, the tables of its client and app
/// `client` and `app`.
struct TokenColumns {
    let token: RefreshTokenTable
    let client: Column<ClientID>
    let app: Column<ClientID>

    init(_ list: inout SelectList) {
        token = list.add(RefreshTokenTable.self, as: "t", .except { [$0.appID] })
        client = list.add("client.name AS client", ClientID.self, as: "client")
        app = list.add("app.name AS app", ClientID.self, as: "app")
    }

    func record(_ row: PostgresRow) throws(StorageError) -> RefreshTokenRecord {
        try token.record(row, clientID: row.required(client), primaryClientID: row.required(app))
    }
}

/// The columns of a user's key in a SELECT. The tables have the aliases `s` and `team`.
struct UserColumns {
    let team: Column<TeamID>
    let subject: Column<String>

    init(_ list: inout SelectList) {
        team = list.add("team.name AS team", TeamID.self, as: "team")
        subject = list.add(SubjectTable.self, as: "s", .only { [$0.subject] }).subject
    }

    func key(_ row: PostgresRow) throws(StorageError) -> SubjectKey {
        guard let subject = AppleSubject(try row.required(subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
        }
        return SubjectKey(team: try row.required(team), subject: subject)
    }
}
