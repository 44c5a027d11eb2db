import AppleAccounts
import SQLTables

/// Reads one subject with all its credentials.
struct PostgresSubjects {
    /// The two look-ups, with the same columns: one row for each credential, and one row for a subject
    /// without credentials.
    private struct Find {
        let byAccount: TypedStatement<AccountID>
        let byKey: TypedStatement<Int64, String>
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            func find(_ condition: String) -> String {
                """
                SELECT \(list)
                FROM (SELECT \(SubjectTable.names()) FROM subject WHERE \(condition)) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                """
            }
            byAccount = TypedStatement("find_account") { find("account_id = \($0)") }
            byKey = TypedStatement("find_subject") { team, name in
                find("team_id = \(team)::integer AND sub = \(name)")
            }
        }
    }

    private static let find = Find()
    private static let lockSubject = TypedStatement<AccountID>("lock_account") {
        "SELECT id FROM subject WHERE account_id = \($0) FOR UPDATE"
    }
    private static let lockCredentials = TypedStatement<AccountID>("lock_credentials_of_account") {
        """
        SELECT app_id FROM credential
        WHERE subject_id = (SELECT id FROM subject WHERE account_id = \($0)) ORDER BY app_id FOR UPDATE
        """
    }

    let names: PostgresNames

    /// - Parameter locking: Prevents changes by other transactions until this transaction ends.
    func find(
        _ id: AccountID, in session: PostgresSession, locking: Bool = false
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        let locks = locking ? [Self.lockSubject(id), Self.lockCredentials(id)] : []
        let results = try session.pipeline(locks + [Self.find.byAccount(id)])
        return try read(results[locks.count], in: session)
    }

    func find(_ key: SubjectKey, in session: PostgresSession) throws -> SubjectRecord? {
        guard let team = try names.teams.number(of: key.team, in: session) else { return nil }
        return try read(session.run(Self.find.byKey(team, key.subject.rawValue)), in: session)?.record
    }

    private func read(
        _ rows: PostgresRows, in session: PostgresSession
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        guard let first = rows.first else { return nil }
        let columns = Self.find.subject
        guard let subject = AppleSubject(try first.required(columns.subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject that was asked for; restore a backup")
        }
        let team = try names.teams.name(of: first.required(columns.teamID), in: session)
        var record = try columns.record(first, key: SubjectKey(team: team, subject: subject))
        for row in rows { try Self.find.credential.add(row, to: &record, names, in: session) }
        return (record, try first.required(columns.id))
    }
}
