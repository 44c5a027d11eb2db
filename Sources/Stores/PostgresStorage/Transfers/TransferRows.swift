import AppleAccounts
import SQLTables

/// Stores transfers of accounts between teams.
enum TransferRows {
    private static let findStatement = TypedQuery<TransferTable, TeamID, String>("find_transfer") {
        $0.add(TransferTable.self)
    } sql: { list, team, subject in
        """
        SELECT \(list) FROM transfer
        WHERE team_id = (SELECT id FROM team WHERE name = \(team)) AND transfer_sub = \(subject)
        """
    }
    private static let insertStatement = NamedInsert<TransferTable, TeamID>(
        "insert_transfers", .except { [$0.teamID] }, table: "team",
        """
        WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE erasure.account_id = new.account_id)
        ON CONFLICT (team_id, transfer_sub)
        DO UPDATE SET \(TransferTable.names(.values).assigned(from: "excluded"))
        """)
    private static let remove = TypedStatement<[AccountID]>("remove_transfers") {
        "DELETE FROM transfer WHERE account_id = ANY (\($0))"
    }
    // After the look-up among the erased accounts, another replica could create an account without a row
    // under another name and erase it. Its row exists now: such an erasure is either seen here, or waits for
    // the row.
    private static let checkStatement = TypedStatement<[AccountID]>("check_transferred") {
        "SELECT expect_rows(count(*), 0) FROM erasure WHERE account_id = ANY (\($0))"
    }
    // Against a concurrent erasure: either the erasure waits, and deletes these transfers, or this
    // transaction waits, and its insert sees that the account is erased. In the order in which batches lock.
    private static let lockSubjects = TypedStatement<[AccountID]>("lock_transferred") {
        """
        SELECT s.id FROM subject s JOIN team t ON t.id = s.team_id WHERE s.account_id = ANY (\($0))
        ORDER BY t.name, s.sub FOR SHARE OF s
        """
    }
    private static let purgeStatement = TypedStatement<Moment, Int64>("purge_transfers") { end, limit in
        """
        DELETE FROM transfer WHERE (team_id, transfer_sub) IN (
            SELECT team_id, transfer_sub FROM transfer WHERE expires_at < \(end) ORDER BY expires_at
            LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        """
    }

    private struct Name: Hashable {
        let team: TeamID
        let subject: AppleSubject
    }

    static func find(
        team: TeamID, transferSubject: AppleSubject, in session: PostgresSession
    ) throws -> TransferRecord? {
        let rows = try session.run(findStatement.statement(team, transferSubject.rawValue))
        guard let row = rows.first else { return nil }
        return try findStatement.columns.record(row, team: team, transferSubject: transferSubject)
    }

    /// Deletes the transfers of these accounts.
    static func removal(of accounts: [AccountID]) -> PostgresCall { remove(accounts) }

    /// Aborts the transaction when an account whose row is saved is erased. Empty without accounts.
    static func check(of accounts: [AccountID]) -> [PostgresCall] {
        accounts.isEmpty ? [] : [checkStatement(accounts)]
    }

    /// Inserts transfers. The teams must have numbers already.
    static func insert(_ transfers: [TransferRecord], in session: PostgresSession) throws {
        var newest: [Name: TransferRecord] = [:]
        for transfer in transfers {
            newest[Name(team: transfer.recipientTeam, subject: transfer.transferSubject)] = transfer
        }
        // In one order, so that two imports of the same transfers cannot wait for each other.
        let sorted = newest.values.sorted {
            ($0.recipientTeam, $0.transferSubject) < ($1.recipientTeam, $1.transferSubject)
        }
        let calls = [.begin, lockSubjects(sorted.map(\.accountID)), insertion(of: sorted), .commit]
        try session.repeatingConflicts { _ = try session.pipeline(calls) }
    }

    static func purge(
        expiredBefore moment: Moment, limit: Int, in session: PostgresSession
    ) throws -> Int {
        try session.run(purgeStatement(moment, Int64(limit))).affected
    }

    private static func insertion(of transfers: [TransferRecord]) -> PostgresCall {
        insertStatement.statement.call(transfers) { transfer, row in
            insertStatement.columns.write(transfer, to: row)
            row.set(insertStatement.name, transfer.recipientTeam)
        }
    }
}
