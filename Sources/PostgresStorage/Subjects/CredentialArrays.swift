import AppleAccounts
import SQLTables

/// Credentials that are to be written, with what names their rows.
struct CredentialArrays {
    /// The two statements, which take the same columns.
    private struct Statements {
        let columns: CredentialTable
        /// Of rows that are there.
        let update: RowStatement
        /// Of rows that may be there.
        let put: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(CredentialTable.self)
            let facts = CredentialTable.names(.facts)
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
                ON CONFLICT (subject_id, app_id) DO UPDATE SET \(facts.assigned(from: "excluded"))
                """)
        }
    }

    private static let statements = Statements()

    private var rowIDs: [Int64?] = []
    private var apps: [Int64?] = []
    /// `nil` for what holds for all apps.
    private var credentials: [AppCredential?] = []
    private var revocations: [Revocation?] = []
    private var emails: [Moment?] = []

    mutating func add(_ credential: AppCredential, app: Int64, email: Moment?, rowID: Int64) {
        rowIDs.append(rowID)
        apps.append(app)
        credentials.append(credential)
        revocations.append(credential.record.revocation)
        emails.append(email)
    }

    /// What holds for all apps.
    mutating func add(_ revocation: Revocation, rowID: Int64) {
        rowIDs.append(rowID)
        apps.append(PostgresNames.allApps)
        credentials.append(nil)
        revocations.append(revocation)
        emails.append(nil)
    }

    /// Returns `nil` when there is none.
    func updateCall() -> PostgresCall? { call(Self.statements.update) }

    /// Returns `nil` when there is none.
    func putCall() -> PostgresCall? { call(Self.statements.put) }

    private func call(_ statement: RowStatement) -> PostgresCall? {
        guard !rowIDs.isEmpty else { return nil }
        let columns = Self.statements.columns
        return statement.call { values in
            values.set(columns.subjectID, rowIDs)
            values.set(columns.appID, apps)
            columns.setSignIn(credentials, emails: emails, in: &values)
            columns.setRevocations(revocations, in: &values)
        }
    }
}
