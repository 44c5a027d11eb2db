import AppleAccounts

/// Reads authorization codes and refresh tokens. The tables go by the names `c` and `t`, their names of
/// clients and apps by `client` and `app`.
enum GrantRows {
    static let codeColumns = """
        c.id, c.account_id, client.name AS client, app.name AS app, c.redirect_uri, c.sealed,
        c.authorized_at, c.expires_at, c.attempts, c.next_attempt_at, c.is_claimed
        """
    static let tokenColumns = """
        t.token_id, t.account_id, client.name AS client, app.name AS app, t.sealed, t.authorized_at,
        t.next_check_at
        """

    /// Reads `codeColumns` of a row.
    static func code(_ rows: PostgresRows, _ row: Int) throws -> AuthorizationCodeRecord {
        guard let id = rows.uuid(row, 0), let account = rows.uuid(row, 1),
            let client = rows.text(row, 2).flatMap({ ClientID($0) }),
            let app = rows.text(row, 3).flatMap({ ClientID($0) }),
            let sealed = rows.bytes(row, 5).flatMap({ SealedSecret($0) }),
            let authorizedAt = rows.moment(row, 6), let expiresAt = rows.moment(row, 7),
            let attempts = rows.integer(row, 8), let nextAttemptAt = rows.moment(row, 9),
            let isClaimed = rows.boolean(row, 10)
        else { throw StorageError(.corrupted, detail: "a code lacks something") }
        return AuthorizationCodeRecord(
            id: id, accountID: AccountID(account), clientID: client, primaryClientID: app,
            redirectURI: rows.text(row, 4), sealed: sealed, authorizedAt: authorizedAt, expiresAt: expiresAt,
            attempts: attempts, nextAttemptAt: nextAttemptAt, isClaimed: isClaimed)
    }

    /// Reads `tokenColumns` of a row.
    static func token(_ rows: PostgresRows, _ row: Int) throws -> RefreshTokenRecord {
        guard let id = rows.uuid(row, 0), let account = rows.uuid(row, 1),
            let client = rows.text(row, 2).flatMap({ ClientID($0) }),
            let app = rows.text(row, 3).flatMap({ ClientID($0) }),
            let sealed = rows.bytes(row, 4).flatMap({ SealedSecret($0) }),
            let authorizedAt = rows.moment(row, 5), let nextCheckAt = rows.moment(row, 6)
        else { throw StorageError(.corrupted, detail: "a token lacks something") }
        return RefreshTokenRecord(
            id: id, accountID: AccountID(account), clientID: client, primaryClientID: app, sealed: sealed,
            authorizedAt: authorizedAt, nextCheckAt: nextCheckAt)
    }

    /// Reads the team and the `sub` of a person from two columns.
    static func key(_ rows: PostgresRows, _ row: Int, at column: Int) throws -> SubjectKey {
        guard let team = rows.text(row, column).flatMap({ TeamID($0) }),
            let subject = rows.text(row, column + 1).flatMap({ AppleSubject($0) })
        else { throw StorageError(.corrupted, detail: "a grant without person") }
        return SubjectKey(team: team, subject: subject)
    }
}
