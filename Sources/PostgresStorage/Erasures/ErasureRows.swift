import AppleAccounts

/// Reads erasures with their apps and grants.
enum ErasureRows {
    /// The table goes by the name `g`, its names of clients and apps by `client` and `app`.
    static let grantColumns = """
        g.id, client.name AS client, app.name AS app, g.kind, g.step, g.outcome, g.attempts,
        g.next_attempt_at, g.is_claimed, g.cause, g.sealed, g.redirect_uri, g.expires_at
        """

    /// The erasure by its own ID or by that of the account, whichever is not NULL.
    private static let found = "coalesce($1::uuid, (SELECT id FROM erasure WHERE account_id = $2::uuid))"
    private static let findErasure = PostgresStatement(
        "erasure",
        """
        SELECT e.id, e.account_id, team.name, e.requested_at, e.deadline, e.finished_at
        FROM erasure e JOIN team ON team.id = e.team_id WHERE e.id = \(found)
        """)
    private static let findApps = PostgresStatement(
        "erasure_apps",
        """
        SELECT app.name, a.had_token, a.state, a.reason, a.refresh_token_cause
        FROM erasure_app a JOIN app ON app.id = a.app_id WHERE a.erasure_id = \(found)
        """)
    private static let findGrants = PostgresStatement(
        "erasure_grants",
        """
        SELECT \(grantColumns)
        FROM erasure_grant g JOIN client ON client.id = g.client_id JOIN app ON app.id = g.app_id
        WHERE g.erasure_id = \(found) ORDER BY g.id
        """)

    private static let findByAccount = PostgresStatement(
        "is_erased", "SELECT 1 FROM erasure WHERE account_id = $1::uuid")

    static func find(_ id: ErasureID, in session: PostgresSession) throws -> ErasureRecord? {
        try find(id.uniqueID, of: nil, in: session)
    }

    static func find(of id: AccountID, in session: PostgresSession) throws -> ErasureRecord? {
        try find(nil, of: id.uniqueID, in: session)
    }

    static func isErased(_ id: AccountID, in session: PostgresSession) throws -> Bool {
        try session.run(PostgresCall(findByAccount, [.uuid(id.uniqueID)])).count > 0
    }

    /// Reads all of one moment, so that no finished erasure has a grant that is not.
    private static func find(
        _ id: UniqueID?, of account: UniqueID?, in session: PostgresSession
    ) throws -> ErasureRecord? {
        let names: [PostgresValue] = [.uuid(id), .uuid(account)]
        let rows = try session.pipeline([
            .beginReading, PostgresCall(findErasure, names), PostgresCall(findApps, names),
            PostgresCall(findGrants, names), .commit,
        ])
        let (erasures, apps, grants) = (rows[1], rows[2], rows[3])
        guard erasures.count == 1 else { return nil }
        guard let id = erasures.uuid(0, 0), let account = erasures.uuid(0, 1),
            let team = erasures.text(0, 2).flatMap({ TeamID($0) }), let requestedAt = erasures.moment(0, 3),
            let deadline = erasures.moment(0, 4)
        else { throw StorageError(.corrupted, detail: "an erasure lacks something") }
        return ErasureRecord(
            id: ErasureID(id), accountID: AccountID(account), team: team, requestedAt: requestedAt,
            deadline: deadline, finishedAt: erasures.moment(0, 5),
            apps: try (0..<apps.count).map { try app(apps, $0) }.sorted { $0.clientID < $1.clientID },
            grants: try (0..<grants.count).map { try grant(grants, $0) })
    }

    private static func app(_ rows: PostgresRows, _ row: Int) throws -> ErasedApp {
        guard let clientID = rows.text(row, 0).flatMap({ ClientID($0) }), let hadToken = rows.boolean(row, 1)
        else { throw StorageError(.corrupted, detail: "an erased app lacks something") }
        return ErasedApp(
            clientID: clientID, hadToken: hadToken,
            stateBefore: try CredentialState(storageCode: rows.integer(row, 2) ?? 0),
            reasonBefore: try rows.integer(row, 3).map { try CredentialReason(storageCode: $0) },
            refreshTokenCause: try rows.integer(row, 4).map { try RefreshTokenCause(storageCode: $0) })
    }

    /// Reads `grantColumns` of a row.
    static func grant(_ rows: PostgresRows, _ row: Int) throws -> ErasureGrant {
        guard let id = rows.uuid(row, 0), let client = rows.text(row, 1).flatMap({ ClientID($0) }),
            let app = rows.text(row, 2).flatMap({ ClientID($0) }), let attempts = rows.integer(row, 6),
            let nextAttemptAt = rows.moment(row, 7), let isClaimed = rows.boolean(row, 8)
        else { throw StorageError(.corrupted, detail: "a grant lacks something") }
        return ErasureGrant(
            id: id, clientID: client, primaryClientID: app,
            kind: try SealedPurpose(storageCode: rows.integer(row, 3) ?? 0),
            step: try ErasureGrant.Step(storageCode: rows.integer(row, 4), outcome: rows.integer(row, 5)),
            attempts: attempts, nextAttemptAt: nextAttemptAt, isClaimed: isClaimed, cause: rows.text(row, 9),
            sealed: rows.bytes(row, 10).flatMap { SealedSecret($0) }, redirectURI: rows.text(row, 11),
            expiresAt: rows.moment(row, 12))
    }
}
