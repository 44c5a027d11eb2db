import AppleAccounts
import SQLTables

/// Turns a user into a tombstone. The classification of the columns decides which are cleared. The statements
/// look up the numbers of names: a missing number violates NOT NULL, so that no row is lost silently.
enum ErasureWriter {
    private static let removeCredentials = TypedStatement<String, String, Int64>("erase_credentials") {
        team, tombstone, row in
        """
        DELETE FROM credential WHERE subject_id = \(row) OR subject_id = (
            SELECT id FROM subject
            WHERE team_id = (SELECT id FROM team WHERE name = \(team)) AND sub = \(tombstone))
        """
    }
    // An older tombstone of the user gives up its name: its time is in the user's row since they came back.
    // Its row stays for its events, under a meaningless name.
    private static let retireTombstone = TypedStatement<String, String>("retire_tombstone") {
        team, tombstone in
        """
        UPDATE subject SET sub = chr(1) || id
        WHERE team_id = (SELECT id FROM team WHERE name = \(team)) AND sub = \(tombstone)
        """
    }
    private static let makeTombstone = TypedStatement<Int64, String>("make_tombstone") { row, tombstone in
        "UPDATE subject SET \(SubjectTable.clearing(subject: "\(tombstone)")) WHERE id = \(row)"
    }

    private struct InsertTokens {
        let columns: ErasureTokenTable
        let client: Column<ClientID>
        let app: Column<ClientID>
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(ErasureTokenTable.self, .except { [$0.clientID, $0.appID] })
            let names = rows.names
            client = rows.add("client", ClientID.self)
            app = rows.add("app", ClientID.self)
            statement = RowStatement(
                "insert_erasure_tokens", rows,
                """
                INSERT INTO erasure_token (\(names), client_id, app_id)
                SELECT \(names.of("new")), (SELECT id FROM client WHERE name = new.client),
                    (SELECT id FROM app WHERE name = new.app)
                FROM \(rows.relation("new"))
                """)
        }
    }

    private static let insertErasure = NamedInsert<ErasureTable, TeamID>(
        "insert_erasure", .except { [$0.teamID] }, table: "team")
    private static let insertApps = NamedInsert<ErasureAppTable, ClientID>(
        "insert_erasure_apps", .except { [$0.appID] }, table: "app")
    private static let insertTokens = InsertTokens()

    /// - Parameters:
    ///   - key: Key of the user.
    ///   - rowID: Row ID of the user's subject. The row is left without revocation.
    static func calls(_ erasure: ErasureRecord, key: SubjectKey, rowID: Int64) -> [PostgresCall] {
        let (team, tombstone) = (key.team.rawValue, key.tombstoneName)
        var calls = [
            removeCredentials(team, tombstone, rowID), retireTombstone(team, tombstone),
            makeTombstone(rowID, tombstone),
        ]
        calls += InboxErasure.calls(key.subject)
        calls.append(PostgresCall(TransferStatements.remove(erasure.accountID)))
        calls.append(PostgresCall(AuditStatements.clear(erasure.accountID)))
        calls.append(PostgresCall(HistoryStatements.remove(erasure.accountID)))
        calls.append(insertion(of: erasure))
        if !erasure.apps.isEmpty { calls.append(insertion(of: erasure.apps, of: erasure.id)) }
        if !erasure.tokens.isEmpty { calls.append(insertion(of: erasure.tokens, of: erasure.id)) }
        return calls
    }

    private static func insertion(of erasure: ErasureRecord) -> PostgresCall {
        insertErasure.statement.call([erasure]) { erasure, row in
            insertErasure.columns.write(erasure, to: row)
            row.set(insertErasure.name, erasure.team)
        }
    }

    private static func insertion(of apps: [ErasedApp], of erasure: ErasureID) -> PostgresCall {
        insertApps.statement.call(apps) { app, row in
            insertApps.columns.write(app, of: erasure, to: row)
            row.set(insertApps.name, app.clientID)
        }
    }

    private static func insertion(of tokens: [ErasureToken], of erasure: ErasureID) -> PostgresCall {
        insertTokens.statement.call(tokens) { token, row in
            insertTokens.columns.write(token, of: erasure, to: row)
            row.set(insertTokens.client, token.clientID)
            row.set(insertTokens.app, token.primaryClientID)
        }
    }
}

/// Removes a user from the notification inbox.
enum InboxErasure {
    // One notification can be about several users, so its rows are locked in one order. OFFSET 0 makes the
    // planner look once for each app, instead of reading the whole inbox when it expects many apps.
    private static let forgetPayloads = TypedStatement<String, String>("forget_payloads") {
        subject, payload in
        """
        WITH told AS MATERIALIZED (
            SELECT n.id FROM notification n WHERE n.id = ANY (ARRAY (
                SELECT key.notification_id FROM app CROSS JOIN LATERAL (
                    SELECT e.notification_id FROM notification_event e
                    WHERE e.app_id = app.id AND e.sub = \(subject) OFFSET 0
                ) key))
            ORDER BY n.id FOR UPDATE OF n
        )
        UPDATE notification n SET \(NotificationTable.clearing(payload: "\(payload)"))
        FROM told WHERE n.id = told.id
        """
    }
    private static let forgetKeys = TypedStatement<String>("forget_keys") {
        "DELETE FROM notification_event WHERE app_id IN (SELECT id FROM app) AND sub = \($0)"
    }

    /// Removes the notifications about this `sub`. The keys are found through the apps, which are few.
    static func calls(_ subject: AppleSubject) -> [PostgresCall] {
        [
            forgetPayloads(subject.rawValue, KeptNotification.erasedPayload), forgetKeys(subject.rawValue),
        ]
    }
}
