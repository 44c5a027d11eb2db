public import AppleAccounts
import SQLTables

extension PostgresAccountStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await pool.run {
            try TransferableAccounts.page(
                team: team, clientID: clientID, after: after, limit: limit, in: $0)
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        guard !transfers.isEmpty else { return }
        try await pool.run { session in
            try session.names.teams.ensure(Set(transfers.map(\.recipientTeam)), in: session)
            try TransferRows.insert(transfers, in: session)
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        try await pool.run { session in
            try TransferRows.purge(expiredBefore: moment, limit: Self.largestPurge, in: session)
        }
    }
}

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

/// Re-keys a subject's row.
enum Renaming {
    private static let removeCredentials = TypedStatement<[Int64?]>("rename_credentials") {
        "DELETE FROM credential WHERE subject_id = ANY (\($0))"
    }
    private static let moveEvents = TypedStatement<Int64, Int64>("rename_events") { row, replaced in
        "UPDATE event SET subject_id = \(row) WHERE subject_id = \(replaced) AND account_id IS NULL"
    }
    // A deletion would have to search all events for the row.
    private static let retireReplaced = TypedStatement<Int64>("rename_replaced") {
        "UPDATE subject SET \(SubjectTable.clearing(subject: "chr(1) || id")) WHERE id = \($0)"
    }
    private static let rename = TypedStatement<Int64, TeamID, String>("rename") { row, team, subject in
        """
        UPDATE subject SET team_id = (SELECT id FROM team WHERE name = \(team)), sub = \(subject)
        WHERE id = \(row)
        """
    }

    /// Deletes all credentials of the row; the caller saves them again.
    ///
    /// - Parameter replacedRowID: ID of the row without account that has the new key so far.
    static func calls(
        rowID: Int64, to key: SubjectKey, replacing replacedRowID: Int64?
    ) -> [PostgresCall] {
        var calls = [removeCredentials([rowID, replacedRowID])]
        if let replacedRowID {
            calls.append(moveEvents(rowID, replacedRowID))
            calls.append(retireReplaced(replacedRowID))
        }
        calls.append(rename(rowID, key.team, key.subject.rawValue))
        return calls
    }
}
