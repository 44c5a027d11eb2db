import AppleAccounts
import SQLTables

/// Accounts of a batch of grant commands, by their IDs: locked, and then read with all credentials.
///
/// The lock is the same lock of the subject's row that account commands take before they change a credential,
/// erase a user or move an account. It is exclusive, so it covers everything of the account: grants, token
/// families and codes, including rows that do not exist yet. Sign-ins without new facts do not take it.
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
    // In the order of the names, as account commands lock. The lock leaves the key free, so that another
    // transaction's event need not wait. Without a join: after a wait PostgreSQL evaluates the conditions
    // again, and would leave out, without a lock, a row that a transfer has moved to another team in the
    // meantime.
    private static let lock = TypedStatement<[AccountID]>("oauth_lock_accounts") { ids in
        """
        SELECT id FROM subject WHERE account_id = ANY (\(ids))
        ORDER BY (SELECT name FROM team WHERE team.id = team_id), sub FOR NO KEY UPDATE
        """
    }

    private(set) var records: [AccountID: SubjectRecord] = [:]
    private(set) var rowIDs: [AccountID: Int64] = [:]

    /// Returns calls that lock the accounts, and then read them: the second statement sees the commits that
    /// the first statement waited for.
    static func calls(for ids: [AccountID]) -> [PostgresCall] { [lock(ids), find.statement(ids)] }

    /// Returns the call that reads the accounts without a lock.
    static func findCall(for ids: [AccountID]) -> PostgresCall { find.statement(ids) }

    /// - Parameter rows: Result of the last call. A missing account has no row.
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
