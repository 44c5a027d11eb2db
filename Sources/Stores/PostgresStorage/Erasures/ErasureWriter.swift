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
        calls.append(TransferRows.removal(of: [erasure.accountID]))
        calls.append(AuditRows.clearing(erasure.accountID))
        calls.append(HistoryRows.removal(of: erasure.accountID))
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
