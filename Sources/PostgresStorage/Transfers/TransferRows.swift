import AppleAccounts

/// Lists the accounts of an app that may be transferred, and remembers transfers.
enum TransferRows {
    /// How many accounts, of whatever team, are looked at in one statement.
    private static let stride = 1000
    // Walks along the account IDs. The number is in the text, so that the planner knows how short the walk is.
    private static let walk = PostgresStatement(
        "walk_accounts",
        """
        SELECT s.account_id, s.sub, s.created_at,
            s.team_id = (SELECT id FROM team WHERE name = $2::text) AND c.subject_id IS NOT NULL
        FROM (SELECT * FROM subject WHERE account_id > $1::uuid ORDER BY account_id LIMIT \(stride)) s
            LEFT JOIN credential c
            ON c.subject_id = s.id AND c.app_id = (SELECT id FROM app WHERE name = $3::text)
        ORDER BY s.account_id
        """)
    private static let findStatement = PostgresStatement(
        "find_transfer",
        """
        SELECT account_id, created_at, expires_at FROM transfer
        WHERE team_id = (SELECT id FROM team WHERE name = $1::text) AND transfer_sub = $2::text
        """)
    private static let remove = PostgresStatement(
        "remove_transfers", "DELETE FROM transfer WHERE account_id = ANY ($1::uuid[])")
    // An account that was in no row could be made, under another name, and erased by another replica since it was looked
    // for among the erased. Its row is there now: such an erasure is either seen here, or waits for the row.
    private static let checkStatement = PostgresStatement(
        "check_transferred",
        "SELECT expect_rows(count(*), 0) FROM erasure WHERE account_id = ANY ($1::uuid[])")
    // Against an erasure at the same time: it waits until these are there to be forgotten, or they wait, and
    // the statement that remembers them sees that the account is erased. In the order in which batches lock.
    private static let lockSubjects = PostgresStatement(
        "lock_transferred",
        """
        SELECT s.id FROM subject s JOIN team t ON t.id = s.team_id WHERE s.account_id = ANY ($1::uuid[])
        ORDER BY t.name, s.sub FOR SHARE OF s
        """)
    private static let insertStatement = PostgresStatement(
        "insert_transfers",
        """
        INSERT INTO transfer (team_id, transfer_sub, account_id, created_at, expires_at)
        SELECT (SELECT id FROM team WHERE name = new.team), new.sub, new.account_id, new.created_at,
            new.expires_at
        FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::bigint[])
            new (team, sub, account_id, created_at, expires_at)
        WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE erasure.account_id = new.account_id)
        ON CONFLICT (team_id, transfer_sub) DO UPDATE SET account_id = excluded.account_id,
            created_at = excluded.created_at, expires_at = excluded.expires_at
        """)
    private static let purgeStatement = PostgresStatement(
        "purge_transfers",
        """
        DELETE FROM transfer WHERE (team_id, transfer_sub) IN (
            SELECT team_id, transfer_sub FROM transfer WHERE expires_at < $1::bigint ORDER BY expires_at
            LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
        """)

    private struct Name: Hashable {
        let team: TeamID
        let subject: AppleSubject
    }

    static func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int, in session: PostgresSession
    ) throws -> [TransferableAccount] {
        var found: [TransferableAccount] = []
        var place = after?.uniqueID ?? UniqueID(high: 0, low: 0)
        var isAtEnd = false
        while !isAtEnd, found.count < limit {
            let rows = try session.run(
                PostgresCall(walk, [.uuid(place), .text(team.rawValue), .text(clientID.rawValue)]))
            isAtEnd = rows.count < stride
            for row in 0..<rows.count {
                guard let id = rows.uuid(row, 0), let createdAt = rows.moment(row, 2) else {
                    throw StorageError(.corrupted, detail: "an account lacks something")
                }
                place = id
                guard rows.boolean(row, 3) == true, found.count < limit else { continue }
                guard let subject = rows.text(row, 1).flatMap({ AppleSubject($0) }) else {
                    throw StorageError(.corrupted, detail: "an account without person")
                }
                found.append(
                    TransferableAccount(accountID: AccountID(id), subject: subject, createdAt: createdAt))
            }
        }
        return found
    }

    static func find(
        team: TeamID, transferSubject: AppleSubject, in session: PostgresSession
    ) throws -> TransferRecord? {
        let rows = try session.run(
            PostgresCall(findStatement, [.text(team.rawValue), .text(transferSubject.rawValue)]))
        guard rows.count == 1 else { return nil }
        guard let account = rows.uuid(0, 0), let createdAt = rows.moment(0, 1),
            let expiresAt = rows.moment(0, 2)
        else { throw StorageError(.corrupted, detail: "a transfer lacks something") }
        return TransferRecord(
            recipientTeam: team, transferSubject: transferSubject, accountID: AccountID(account), from: nil,
            createdAt: createdAt, expiresAt: expiresAt)
    }

    /// Forgets the transfers of these accounts.
    static func removal(of accounts: [AccountID]) -> PostgresCall {
        PostgresCall(remove, [.uuids(accounts.map(\.uniqueID))])
    }

    /// Ends the transaction when one of the accounts, whose rows are saved, is erased. Empty for none.
    static func check(of accounts: [AccountID]) -> [PostgresCall] {
        accounts.isEmpty ? [] : [PostgresCall(checkStatement, [.uuids(accounts.map(\.uniqueID))])]
    }

    /// The teams have their numbers already.
    static func insert(_ transfers: [TransferRecord], in session: PostgresSession) throws {
        var newest: [Name: TransferRecord] = [:]
        for transfer in transfers {
            newest[Name(team: transfer.recipientTeam, subject: transfer.transferSubject)] = transfer
        }
        // In one order, so that two who import the same cannot wait for each other.
        let sorted = newest.values.sorted {
            ($0.recipientTeam, $0.transferSubject) < ($1.recipientTeam, $1.transferSubject)
        }
        let calls = [
            .begin, PostgresCall(lockSubjects, [.uuids(sorted.map(\.accountID.uniqueID))]),
            insertion(of: sorted), .commit,
        ]
        for _ in 1..<BatchCommitter.mostAttempts {
            do {
                _ = try session.pipeline(calls)
                return
            } catch let error as PostgresError where error.isWorthRepeating {
                try session.rollBack()
            }
        }
        _ = try session.pipeline(calls)
    }

    static func purge(
        expiredBefore moment: Moment, limit: Int, in session: PostgresSession
    ) throws -> Int {
        try session.run(PostgresCall(purgeStatement, [.moment(moment), .integer(Int64(limit))])).affected
    }

    private static func insertion(of transfers: [TransferRecord]) -> PostgresCall {
        PostgresCall(
            insertStatement,
            [
                .texts(transfers.map(\.recipientTeam.rawValue)),
                .texts(transfers.map(\.transferSubject.rawValue)),
                .uuids(transfers.map(\.accountID.uniqueID)), .moments(transfers.map(\.createdAt)),
                .moments(transfers.map(\.expiresAt)),
            ])
    }
}
