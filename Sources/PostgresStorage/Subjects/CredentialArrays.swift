import AppleAccounts
import SQLTables

/// Credentials to write, with the keys of their rows.
struct CredentialArrays {
    /// The two statements, which have the same columns.
    private struct Statements {
        let columns: CredentialTable
        /// For rows that exist.
        let update: RowStatement
        /// For rows that may exist.
        let put: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(CredentialTable.self)
            let (facts, values) = (CredentialTable.names(.facts), CredentialTable.names(.values))
            update = RowStatement(
                "update_credentials", rows,
                """
                UPDATE credential AS c SET \(facts.assigned(from: "n"))
                FROM \(rows.relation("n"))
                WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
                """)
            put = RowStatement(
                "put_credentials", rows,
                """
                INSERT INTO credential (\(rows.names)) SELECT n.* FROM \(rows.relation("n"))
                ON CONFLICT (subject_id, app_id) DO UPDATE SET \(values.assigned(from: "excluded"))
                """)
        }
    }

    private static let statements = Statements()

    private struct Row {
        let subjectID: Int64
        let app: Int64
        let email: Moment?
        let facts: Facts
    }

    private enum Facts {
        case ofApp(AppCredential)
        case ofAllApps(FactsOfAllApps)
    }

    private var rows: [Row] = []

    mutating func add(_ credential: AppCredential, app: Int64, email: Moment?, rowID: Int64) {
        rows.append(Row(subjectID: rowID, app: app, email: email, facts: .ofApp(credential)))
    }

    /// Adds the facts that hold for all apps.
    mutating func add(_ facts: FactsOfAllApps, rowID: Int64) {
        rows.append(Row(subjectID: rowID, app: AppTable.allApps, email: nil, facts: .ofAllApps(facts)))
    }

    /// Returns `nil` when there is no credential.
    func updateCall() -> PostgresCall? { call(Self.statements.update) }

    /// Returns `nil` when there is no credential.
    func putCall() -> PostgresCall? { call(Self.statements.put) }

    private func call(_ statement: RowStatement) -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = Self.statements.columns
        return statement.call(rows) { item, row in
            row.set(columns.subjectID, item.subjectID)
            row.set(columns.appID, item.app)
            switch item.facts {
            case .ofApp(let credential): columns.write(credential, email: item.email, to: row)
            case .ofAllApps(let facts): columns.write(facts, to: row)
            }
        }
    }
}
