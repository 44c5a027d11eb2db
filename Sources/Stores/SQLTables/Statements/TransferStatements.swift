public import AppleAccounts

/// Statements for account transfers between teams, for both databases.
public enum TransferStatements {
    /// Number of accounts, of any team, that one statement reads.
    fileprivate static let stride = 1000

    fileprivate static let find = SQLStatement<TransferTable, TeamID, String>("find_transfer") {
        $0.add(TransferTable.self)
    } sql: { _, list, team, subject in
        """
        SELECT \(list) FROM transfer
        WHERE team_id = (SELECT id FROM team WHERE name = \(team)) AND transfer_sub = \(subject)
        """
    }
    fileprivate static let ensureTeam = SQLStatement<Void, TeamID>("ensure_team_of_transfers") { _, team in
        """
        INSERT INTO team (name) SELECT \(team) WHERE NOT EXISTS (SELECT 1 FROM team WHERE name = \(team))
        ON CONFLICT (name) DO NOTHING
        """
    }
    fileprivate static let findKey = SQLStatement<(team: Column<String>, subject: Column<String>), AccountID>(
        "find_key_of_transferred"
    ) {
        (team: $0.add("t.name", String.self, as: "team"), subject: $0.add("s.sub", String.self, as: "sub"))
    } sql: { _, list, account in
        "SELECT \(list) FROM subject s JOIN team t ON t.id = s.team_id WHERE s.account_id = \(account)"
    }
    // The lock prevents a race with an erasure: either the erasure waits, and then deletes these transfers,
    // or this transaction waits, and its insert then sees that the account is erased.
    fileprivate static let lock = SQLStatement<Void, AccountID>("lock_transferred") { dialect, account in
        "SELECT id FROM subject WHERE account_id = \(account) \(dialect.sharing)"
    }
    fileprivate static let insert = SQLStatement<Void, TeamID, String, AccountID, Moment, Moment>(
        "insert_transfer"
    ) { _, team, subject, account, creation, end in
        """
        INSERT INTO transfer (\(TransferTable.names()))
        SELECT (SELECT id FROM team WHERE name = \(team)), \(subject), \(account), \(creation), \(end)
        WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE account_id = \(account))
        ON CONFLICT (team_id, transfer_sub)
        DO UPDATE SET \(TransferTable.names(.values).assigned(from: "excluded"))
        """
    }
    static let purge = TransferTable.purge(by: "team_id, transfer_sub", before: "expires_at")
    // The statement reads accounts in ID order. The number is part of the SQL text, so that PostgreSQL's
    // planner knows how many rows to expect.
    fileprivate static let walk = SQLStatement<
        (subject: SubjectTable, credential: CredentialTable), AccountID, TeamID, ClientID
    >("walk_accounts") {
        (
            subject: $0.add(
                SubjectTable.self, as: "s", .only { [$0.accountID, $0.subject, $0.createdAt] }),
            credential: $0.add(CredentialTable.self, as: "c", .only { [$0.subjectID] })
        )
    } sql: { _, list, start, team, app in
        """
        SELECT \(list)
        FROM (SELECT * FROM subject WHERE account_id > \(start) ORDER BY account_id LIMIT \(stride)) AS s
            LEFT JOIN credential c ON c.subject_id = s.id
                AND c.app_id = (SELECT id FROM app WHERE name = \(app))
                AND s.team_id = (SELECT id FROM team WHERE name = \(team))
        ORDER BY s.account_id
        """
    }
    /// Deletes an account's transfers.
    public static let remove = SQLStatement<Void, AccountID>("remove_transfers") { _, account in
        "DELETE FROM transfer WHERE account_id = \(account)"
    }

    private static let removeCredentials = SQLStatement<Void, Int64, Int64>("rename_credentials") {
        _, row, replaced in
        "DELETE FROM credential WHERE subject_id IN (\(row), \(replaced))"
    }
    private static let moveEvents = SQLStatement<Void, Int64, Int64>("rename_events") { _, row, replaced in
        "UPDATE event SET subject_id = \(row) WHERE subject_id = \(replaced) AND account_id IS NULL"
    }
    // The row is renamed instead of deleted, because a deletion would have to search all events for
    // references to the row.
    private static let retireReplaced = SQLStatement<Void, Int64>("rename_replaced") { dialect, replaced in
        "UPDATE subject SET \(dialect.clearingSubject(named: dialect.retiredName)) WHERE id = \(replaced)"
    }
    private static let rename = SQLStatement<Void, Int64, TeamID, String>("rename") {
        dialect, row, team, subject in
        let number = "(SELECT id FROM team WHERE name = \(team))"
        let digest = dialect.settingDigest(of: "\(subject)", in: number)
        return "UPDATE subject SET \(digest)team_id = \(number), sub = \(subject) WHERE id = \(row)"
    }

    /// Re-keys a subject's row. Deletes all of the row's credentials; the caller saves them again.
    ///
    /// - Parameter replacedRowID: ID of the row without an account that currently has the new key.
    public static func carryOut(
        _ rekeying: Rekeying, rowID: Int64, replacing replacedRowID: Int64?
    ) -> [SQLCall] {
        var calls = [removeCredentials(rowID, replacedRowID)]
        if let replacedRowID { calls += [moveEvents(rowID, replacedRowID), retireReplaced(replacedRowID)] }
        calls.append(rename(rowID, rekeying.to.team, rekeying.to.subject.rawValue))
        // The keys are removed now, because a later erasure could not find them: the user's old `sub` is no
        // longer stored anywhere.
        return calls + ErasureStatements.forgetInInbox(rekeying.from.subject)
    }
}

extension SQLDialect {
    /// Returns SQL that finds a subject by its name. On SQLite it uses an index of digests.
    func hasName(_ name: SQLParameter<String>, of team: SQLParameter<TeamID>) -> String {
        let number = "(SELECT id FROM team WHERE name = \(team))"
        return switch self {
        case .sqlite: "key_digest = key_digest(\(number), \(name))"
        case .postgres: "team_id = \(number) AND sub = \(name)"
        }
    }

    /// Returns SQL that updates the digest by which SQLite finds a subject, for a statement that renames the
    /// subject.
    ///
    /// - Parameters:
    ///   - name: SQL for the new name.
    ///   - team: SQL for the team number.
    func settingDigest(of name: String, in team: String = "team_id") -> String {
        self == .sqlite ? "key_digest = key_digest(\(team), \(name)), " : ""
    }

    /// Returns SQL that renames a subject, and clears all other columns about the user.
    func clearingSubject(named name: String) -> String {
        settingDigest(of: name) + SubjectTable.clearing(subject: name)
    }

    /// SQL for a name that differs from every `sub` and every tombstone.
    var retiredName: String { "\(character(1)) || id" }
}

extension SQLSession {
    public func transfer(team: TeamID, transferSubject: AppleSubject) throws -> TransferRecord? {
        try rows(TransferStatements.find(team, transferSubject.rawValue)) {
            try TransferStatements.find.columns.record($0, team)
        }.first
    }
}

extension SQLSession {
    /// Locks account rows against changes, in the lock order of batches.
    ///
    /// - Returns: The accounts that exist.
    @discardableResult
    func lockAccounts(_ accounts: Set<AccountID>) throws -> Set<AccountID> {
        let (accounts, columns) = (Array(accounts), TransferStatements.findKey.columns)
        // A single account needs no order.
        var found = accounts.count == 1 ? [(team: "", subject: "", account: accounts[0])] : []
        try run(found.isEmpty ? accounts.map { TransferStatements.findKey($0) } : []) { index, row in
            found.append((try row.required(columns.team), try row.required(columns.subject), accounts[index]))
        }
        found.sort { ($0.team, $0.subject) < ($1.team, $1.subject) }
        var locked: Set<AccountID> = []
        try run(found.map { TransferStatements.lock($0.account) }) { index, _ in
            locked.insert(found[index].account)
        }
        return locked
    }
}

extension SQLReader {
    /// Implements `TransferStore`.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        let (subjects, credentials) = TransferStatements.walk.columns
        return try await snapshot { session in
            var found: [TransferableAccount] = []
            var place = after ?? AccountID(UniqueID(high: 0, low: 0))
            var isAtEnd = false
            while !isAtEnd, found.count < limit {
                var count = 0
                try session.run(TransferStatements.walk(place, team, clientID)) { row in
                    count += 1
                    place = try row.required(subjects.accountID)
                    guard row[credentials.subjectID] != nil, found.count < limit else { return }
                    found.append(
                        TransferableAccount(
                            accountID: place, subject: try row.requiredSubject(subjects.subject),
                            createdAt: try row.required(subjects.createdAt)))
                }
                isAtEnd = count < TransferStatements.stride
            }
            return found
        }
    }
}

extension TransferStore where Self: SQLStore {
    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        for team in Set(transfers.map(\.recipientTeam)).sorted() {
            try await run(TransferStatements.ensureTeam(team))
        }
        // All imports insert in the same order, so that two imports of the same transfers cannot deadlock. If
        // several transfers have the same name, the last transfer is stored.
        let sorted = transfers.enumerated().sorted {
            ($0.element.recipientTeam, $0.element.transferSubject, $0.offset)
                < ($1.element.recipientTeam, $1.element.transferSubject, $1.offset)
        }.map(\.element)
        try await transaction { session in
            try session.lockAccounts(Set(sorted.map(\.accountID)))
            let insertions = sorted.map {
                TransferStatements.insert(
                    $0.recipientTeam, $0.transferSubject.rawValue, $0.accountID, $0.createdAt, $0.expiresAt)
            }
            try session.run(insertions)
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        try await purge(TransferStatements.purge, before: moment)
    }
}
