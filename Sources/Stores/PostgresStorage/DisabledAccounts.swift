public import AppleAccounts
import SQLTables

extension PostgresAccountStore {
    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await pool.run { try DisabledAccounts.accounts(until: moment, limit: limit, in: $0) }
    }
}

/// Finds accounts whose disabling is over, by an index that has the disabled accounts only.
enum DisabledAccounts {
    private static let find = TypedQuery<SubjectTable, Moment, Int64>("find_disabled") {
        $0.add(SubjectTable.self, as: "s", .only { [$0.accountID, $0.teamID, $0.subject] })
    } sql: { list, end, limit in
        """
        SELECT \(list)
        FROM (
            SELECT subject_id, disabled_until FROM credential
            WHERE disabled_until IS NOT NULL AND disabled_until <= \(end)
            ORDER BY disabled_until LIMIT \(limit)) AS c
        JOIN subject s ON s.id = c.subject_id
        WHERE s.account_id IS NOT NULL
        ORDER BY c.disabled_until
        """
    }

    static func accounts(
        until moment: Moment, limit: Int, in session: PostgresSession
    ) throws -> [DisabledAccount] {
        let columns = find.columns
        return try session.run(find.statement(moment, Int64(limit))).map { row in
            guard let subject = AppleSubject(try row.required(columns.subject)) else {
                throw StorageError(
                    .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
            }
            let team = try session.names.teams.name(of: row.required(columns.teamID), in: session)
            return DisabledAccount(
                accountID: try row.required(columns.accountID), key: SubjectKey(team: team, subject: subject))
        }
    }
}
