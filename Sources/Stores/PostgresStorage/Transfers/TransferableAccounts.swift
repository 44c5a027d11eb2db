import AppleAccounts
import SQLTables

/// Lists the accounts of an app that may be transferred.
enum TransferableAccounts {
    /// Number of accounts, of any team, that one statement reads.
    private static let stride = 1000

    private struct Walk {
        let statement: TypedStatement<AccountID, TeamID, ClientID>
        let columns: SubjectTable
        let isOfApp: Column<Bool>

        init() {
            var list = SelectList()
            columns = list.add(
                SubjectTable.self, as: "s", .only { [$0.accountID, $0.subject, $0.createdAt] })
            isOfApp = list.add("wanted.is_of_app", Bool.self, as: "is_of_app")
            // Walks along the account IDs. The number is in the SQL text, so that the planner knows the
            // length of the walk.
            statement = TypedStatement("walk_accounts") { start, team, app in
                """
                SELECT \(list)
                FROM (SELECT * FROM subject WHERE account_id > \(start) ORDER BY account_id LIMIT \(stride)) s
                    LEFT JOIN credential c
                    ON c.subject_id = s.id AND c.app_id = (SELECT id FROM app WHERE name = \(app))
                    CROSS JOIN LATERAL (
                        SELECT s.team_id = (SELECT id FROM team WHERE name = \(team))
                            AND c.subject_id IS NOT NULL AS is_of_app) wanted
                ORDER BY s.account_id
                """
            }
        }
    }

    private static let walk = Walk()

    static func page(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int, in session: PostgresSession
    ) throws -> [TransferableAccount] {
        var found: [TransferableAccount] = []
        var place = after ?? AccountID(UniqueID(high: 0, low: 0))
        var isAtEnd = false
        while !isAtEnd, found.count < limit {
            let rows = try session.run(walk.statement(place, team, clientID))
            isAtEnd = rows.count < stride
            for row in rows {
                place = try row.required(walk.columns.accountID)
                guard row[walk.isOfApp] == true, found.count < limit else { continue }
                guard let subject = AppleSubject(try row.required(walk.columns.subject)) else {
                    throw StorageError(
                        .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
                }
                found.append(
                    TransferableAccount(
                        accountID: place, subject: subject,
                        createdAt: try row.required(walk.columns.createdAt)))
            }
        }
        return found
    }
}
