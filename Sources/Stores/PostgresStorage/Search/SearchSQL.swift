import AppleAccounts
import SQLTables

/// The statements of searches. Each goes along one index, in its order, and stops after a bounded number of rows; a
/// test compares their plans. The collation makes lower() change ASCII letters only, as in the indexes.
struct SearchSQL: Sendable {
    let rowID: Column<Int64>
    let accountID: Column<AccountID>
    let all: TypedStatement<AccountID, AccountID, Int64>
    let email: TypedStatement<String, AccountID, Int64>
    let name: TypedStatement<String, [String], AccountID, Int64>
    let account: TypedStatement<AccountID, AccountID>
    let subject: TypedStatement<String, AccountID>
    let grant: TypedStatement<GrantID, AccountID>
    let linked: TypedStatement<AccountID, Int64>
    let disabled: TypedStatement<Int64, Int64>
    let revoked: TypedStatement<[Int64], Int64, Int64>
    let ofApps: TypedStatement<[Int64], Int64, Int64>

    init() {
        var list = SelectList()
        rowID = list.add("s.id", Int64.self, as: "id")
        accountID = list.add("s.account_id", AccountID.self, as: "account_id")
        all = TypedStatement("search_all") { before, first, limit in
            """
            SELECT \(list) FROM subject s WHERE s.account_id < \(before) AND s.account_id >= \(first)
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        func having(_ column: String, _ text: String, _ before: String, _ limit: String) -> String {
            """
            (SELECT id, account_id FROM subject
                WHERE \(column) IS NOT NULL AND lower(\(column)) = lower(\(text) COLLATE "C")
                    AND account_id < \(before)
                ORDER BY account_id DESC LIMIT \(limit))
            """
        }
        // Each half has a plan of its own. Of halves below one UNION ALL the planner takes the one that begins soonest:
        // from the newest person on, past all the others.
        email = TypedStatement("search_email") { text, before, limit in
            """
            WITH signed AS MATERIALIZED \(having("email", "\(text)", "\(before)", "\(limit)")),
                unsigned AS MATERIALIZED \(having("unsigned_email", "\(text)", "\(before)", "\(limit)"))
            SELECT \(list) FROM (SELECT * FROM signed UNION ALL SELECT * FROM unsigned) AS s
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        name = TypedStatement("search_name") { first, lasts, before, limit in
            """
            SELECT \(list) FROM (
                \(having("first_name", "\(first)", "\(before)", "\(limit)"))
                UNION SELECT l.id, l.account_id FROM unnest(\(lasts)) AS k (name)
                CROSS JOIN LATERAL \(having("last_name", "k.name", "\(before)", "\(limit)")) AS l) AS s
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        account = TypedStatement("search_account") { id, before in
            "SELECT \(list) FROM subject s WHERE s.account_id = \(id) AND s.account_id < \(before)"
        }
        subject = TypedStatement("search_subject") { name, before in
            """
            SELECT \(list) FROM (SELECT id FROM team OFFSET 0) AS t
            JOIN subject s ON s.team_id = t.id AND s.sub = \(name)
            WHERE s.account_id < \(before) ORDER BY s.account_id DESC
            """
        }
        grant = TypedStatement("search_grant") { id, before in
            """
            SELECT \(list) FROM oauth_grant g JOIN subject s ON s.account_id = g.account_id
            WHERE g.id = \(id) AND s.account_id < \(before)
            """
        }
        linked = TypedStatement("search_linked") { before, limit in
            """
            SELECT \(list) FROM (
                SELECT DISTINCT account_id FROM oauth_grant WHERE account_id < \(before)
                ORDER BY account_id DESC LIMIT \(limit)) AS g
            CROSS JOIN LATERAL (
                SELECT id, account_id FROM subject WHERE account_id = g.account_id OFFSET 0) AS s
            ORDER BY s.account_id DESC
            """
        }
        var rows = SelectList()
        _ = rows.add("s.id", Int64.self, as: "id")
        disabled = TypedStatement("search_disabled") { before, limit in
            """
            SELECT \(rows) FROM (
                SELECT subject_id AS id FROM credential
                WHERE disabled_until IS NOT NULL AND subject_id < \(before)
                ORDER BY subject_id DESC LIMIT \(limit)) AS s
            """
        }
        func ofApps(_ condition: String, _ apps: String, _ before: String, _ limit: String) -> String {
            """
            SELECT DISTINCT \(rows) FROM unnest(\(apps)) AS a (id)
            CROSS JOIN LATERAL (
                SELECT subject_id AS id FROM credential
                WHERE app_id = a.id::integer AND \(condition) AND subject_id < \(before)
                ORDER BY app_id DESC, subject_id DESC LIMIT \(limit)) AS s
            ORDER BY s.id DESC LIMIT \(limit)
            """
        }
        revoked = TypedStatement("search_revoked") { apps, before, limit in
            ofApps("revoked_at IS NOT NULL", "\(apps)", "\(before)", "\(limit)")
        }
        self.ofApps = TypedStatement("search_app") { apps, before, limit in
            ofApps("app_id > 0", "\(apps)", "\(before)", "\(limit)")
        }
    }

    /// All statements, by name.
    var statements: [PostgresStatement] {
        [
            all.statement, email.statement, name.statement, account.statement, subject.statement,
            grant.statement, linked.statement, disabled.statement, revoked.statement, ofApps.statement,
        ]
    }
}
