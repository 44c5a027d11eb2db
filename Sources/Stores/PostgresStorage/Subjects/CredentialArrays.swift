import AppleAccounts
import SQLTables

/// Credentials to write, with the keys of their rows.
struct CredentialArrays {
    /// A statement with its columns.
    private struct Write {
        let columns: CredentialTable
        let statement: RowStatement

        init(
            _ choice: ColumnChoice<CredentialTable>, _ name: String,
            sql: (RowParameters) -> String
        ) {
            var rows = RowParameters()
            columns = rows.add(CredentialTable.self, choice)
            statement = RowStatement(name, rows, sql(rows))
        }
    }

    /// For rows of apps that exist.
    private static let update = Write(.ofApp, "update_credentials") { rows in
        """
        UPDATE credential AS c SET \(CredentialTable.names(.facts).assigned(from: "n"))
        FROM \(rows.relation("n"))
        WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
        """
    }
    /// For rows that may exist.
    private static let put = Write(.all, "put_credentials") { rows in
        """
        INSERT INTO credential (\(rows.names)) SELECT n.* FROM \(rows.relation("n"))
        ON CONFLICT (subject_id, app_id)
        DO UPDATE SET \(CredentialTable.names(.values).assigned(from: "excluded"))
        """
    }

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
    func updateCall() -> PostgresCall? { call(Self.update) }

    /// Returns `nil` when there is no credential.
    func putCall() -> PostgresCall? { call(Self.put) }

    private func call(_ write: Write) -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = write.columns
        return write.statement.call(rows) { item, row in
            row.set(columns.subjectID, item.subjectID)
            row.set(columns.appID, item.app)
            switch item.facts {
            case .ofApp(let credential): columns.write(credential, email: item.email, to: row)
            case .ofAllApps(let facts): columns.write(facts, to: row)
            }
        }
    }
}
