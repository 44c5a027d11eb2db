import AppleAccounts
import SQLTables

/// Accounts that a batch of grant commands is about, by their IDs: locked, and then read with all
/// credentials.
///
/// The lock of the subject's row is the one that account commands take before they change a credential, erase
/// a person or move an account. It is exclusive, so it stands for everything of the account: grants, lines
/// and codes, those too that do not exist yet. Sign-ins that bring nothing new do not take it.
struct LockedAccounts {
    private struct Find {
        let statement: TypedStatement<[AccountID]>
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            statement = TypedStatement("oauth_find_accounts") { ids in
                """
                SELECT \(list) FROM unnest(\(ids)) AS k (id)
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names()) FROM subject WHERE account_id = k.id OFFSET 0) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                """
            }
        }
    }

    private static let find = Find()
    // In the order of the names, in which account commands lock too. It leaves the key alone, so that an
    // event which is appended elsewhere need not wait. Without a join: after a wait PostgreSQL looks at the
    // conditions again, and would leave out, without a lock, a row that a transfer has given another team
    // meanwhile.
    private static let lock = TypedStatement<[AccountID]>("oauth_lock_accounts") { ids in
        """
        SELECT id FROM subject WHERE account_id = ANY (\(ids))
        ORDER BY (SELECT name FROM team WHERE team.id = team_id), sub FOR NO KEY UPDATE
        """
    }

    private(set) var records: [AccountID: SubjectRecord] = [:]
    private(set) var rowIDs: [AccountID: Int64] = [:]

    /// What locks them, and then reads them: the second statement sees what was committed while the first one
    /// waited.
    static func calls(for ids: [AccountID]) -> [PostgresCall] { [lock(ids), find.statement(ids)] }

    /// What reads them without a lock.
    static func findCall(for ids: [AccountID]) -> PostgresCall { find.statement(ids) }

    /// - Parameter rows: The result of the last of the calls. An account that is not there has none.
    init(_ rows: PostgresRows, _ names: PostgresNames, in session: PostgresSession) throws {
        let columns = Self.find
        for row in rows {
            let id = try row.required(columns.subject.accountID)
            var record = try records[id] ?? Self.record(row, names, in: session)
            try columns.credential.add(row, to: &record, names, in: session)
            records[id] = record
            rowIDs[id] = try row.required(columns.subject.id)
        }
    }

    private static func record(
        _ row: PostgresRow, _ names: PostgresNames, in session: PostgresSession
    ) throws -> SubjectRecord {
        guard let subject = AppleSubject(try row.required(find.subject.subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
        }
        let team = try names.teams.name(of: row.required(find.subject.teamID), in: session)
        return try find.subject.record(row, key: SubjectKey(team: team, subject: subject))
    }
}
