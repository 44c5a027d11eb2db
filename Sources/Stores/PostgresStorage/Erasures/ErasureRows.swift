import AppleAccounts
import SQLTables

/// The columns of a token in a SELECT. The table goes by the name `g`, the tables of its client and app by
/// `client` and `app`.
struct ErasureTokenColumns {
    let token: ErasureTokenTable
    let client: Column<ClientID>
    let app: Column<ClientID>

    init(_ list: inout SelectList) {
        token = list.add(
            ErasureTokenTable.self, as: "g", .except { [$0.erasureID, $0.clientID, $0.appID] })
        client = list.add("client.name AS client", ClientID.self, as: "client")
        app = list.add("app.name AS app", ClientID.self, as: "app")
    }

    func token(_ row: PostgresRow) throws(StorageError) -> ErasureToken {
        try token.token(row, clientID: row.required(client), primaryClientID: row.required(app))
    }
}

/// Reads erasures with their apps and tokens.
enum ErasureRows {
    /// Finds the erasure by its own ID or by the account's ID; the other argument is NULL.
    private typealias ByEither = TypedStatement<ErasureID, AccountID>

    private struct Find {
        let erasure: ByEither
        let columns: ErasureTable
        let team: Column<TeamID>
        let apps: ByEither
        let app: ErasureAppTable
        let clientID: Column<ClientID>
        let tokens: ByEither
        let token: ErasureTokenColumns

        init() {
            func found(_ id: Parameter<ErasureID>, _ account: Parameter<AccountID>) -> String {
                "coalesce(\(id), (SELECT id FROM erasure WHERE account_id = \(account)))"
            }
            var list = SelectList()
            columns = list.add(ErasureTable.self, as: "e", .except { [$0.teamID] })
            team = list.add("team.name", TeamID.self, as: "team")
            erasure = ByEither("erasure") { id, account in
                """
                SELECT \(list) FROM erasure e JOIN team ON team.id = e.team_id
                WHERE e.id = \(found(id, account))
                """
            }
            var appList = SelectList()
            app = appList.add(ErasureAppTable.self, as: "a", .except { [$0.erasureID, $0.appID] })
            clientID = appList.add("app.name", ClientID.self, as: "app")
            apps = ByEither("erasure_apps") { id, account in
                """
                SELECT \(appList) FROM erasure_app a JOIN app ON app.id = a.app_id
                WHERE a.erasure_id = \(found(id, account))
                """
            }
            var grantList = SelectList()
            token = ErasureTokenColumns(&grantList)
            tokens = ByEither("erasure_tokens") { id, account in
                """
                SELECT \(grantList)
                FROM erasure_token g JOIN client ON client.id = g.client_id JOIN app ON app.id = g.app_id
                WHERE g.erasure_id = \(found(id, account)) ORDER BY g.id
                """
            }
        }
    }

    private static let find = Find()
    private static let findByAccount = TypedStatement<AccountID>("is_erased") {
        "SELECT 1 FROM erasure WHERE account_id = \($0)"
    }

    static func find(_ id: ErasureID, in session: PostgresSession) throws -> ErasureRecord? {
        try find(id, of: nil, in: session)
    }

    static func find(of id: AccountID, in session: PostgresSession) throws -> ErasureRecord? {
        try find(nil, of: id, in: session)
    }

    static func isErased(_ id: AccountID, in session: PostgresSession) throws -> Bool {
        try session.run(findByAccount(id)).count > 0
    }

    /// Reads all in one snapshot, so that a finished erasure never has an unfinished entry.
    private static func find(
        _ id: ErasureID?, of account: AccountID?, in session: PostgresSession
    ) throws -> ErasureRecord? {
        let results = try session.pipeline([
            .beginReading, find.erasure(id, account), find.apps(id, account), find.tokens(id, account),
            .commit,
        ])
        guard let row = results[1].first else { return nil }
        let apps = try results[2].map { try find.app.app($0, clientID: $0.required(find.clientID)) }
        return try find.columns.record(
            row, team: row.required(find.team), apps: apps.sorted { $0.clientID < $1.clientID },
            tokens: results[3].map { try find.token.token($0) })
    }
}

/// Writes the progress of the Apple codes and tokens of erased accounts.
enum ErasureProgress {
    // Two replicas that finish the last two entries at once would each see the other's entry unfinished, and
    // neither would finish the erasure. So one waits here, and its later statements see the other's write.
    private static let lock = TypedStatement<ErasureID>("lock_erasure") {
        "SELECT id FROM erasure WHERE id = \($0) FOR UPDATE"
    }

    private struct Save {
        let id: Column<UniqueID>
        let erasureID: Column<ErasureID>
        let columns: ErasureTokenTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            id = rows.add("id", UniqueID.self)
            erasureID = rows.add("erasure_id", ErasureID.self)
            columns = rows.add(ErasureTokenTable.self, .progress)
            statement = RowStatement(
                "save_erasure_token", rows,
                """
                UPDATE erasure_token AS g SET \(ErasureTokenTable.names(.progress).assigned(from: "n"))
                FROM \(rows.relation("n"))
                WHERE g.id = n.id AND g.erasure_id = n.erasure_id AND g.step < 4
                """)
        }
    }

    private static let save = Save()
    private static let finish = TypedStatement<ErasureID, Moment>("finish_erasure") { id, moment in
        """
        UPDATE erasure SET finished_at = \(moment)
        WHERE id = \(id) AND finished_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasure_token WHERE erasure_id = \(id) AND step < 4)
        """
    }
    private static let adopt = TypedStatement<UniqueID, UniqueID, Int64, Int64, Moment, SealedSecret, Int64>(
        "adopt_token"
    ) { code, token, kind, revoke, moment, sealed, exchange in
        """
        UPDATE erasure_token SET id = \(token), kind = \(kind), step = \(revoke),
            next_attempt_at = \(moment), is_claimed = false, cause = NULL, sealed = \(sealed),
            redirect_uri = NULL, expires_at = NULL
        WHERE id = \(code) AND step = \(exchange)
        """
    }

    static func save(
        _ token: ErasureToken, of erasure: ErasureID, at moment: Moment, in session: PostgresSession
    ) throws {
        var saved = token
        saved.isClaimed = false
        if token.isDone { saved.sealed = nil }
        let saving = save.statement.call([saved]) { token, row in
            save.columns.write(token, of: erasure, to: row)
            row.set(save.id, token.id)
            row.set(save.erasureID, erasure)
        }
        guard token.isDone else {
            _ = try session.run(saving)
            return
        }
        _ = try session.pipeline([.begin, lock(erasure), saving, finish(erasure, moment), .commit])
    }

    static func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment,
        in session: PostgresSession
    ) throws -> Bool {
        let call = adopt(
            codeID, tokenID, SealedPurpose.refreshToken.storageCode,
            ErasureToken.Step.revoke.storageCodes.step, moment, sealed,
            ErasureToken.Step.exchange.storageCodes.step)
        return try session.run(call).affected > 0
    }
}
