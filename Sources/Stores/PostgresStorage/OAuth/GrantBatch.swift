import AppleAccounts
import AuthorizationServer
import SQLTables

/// Commits a batch of grant commands, of any size, in one transaction with three round trips.
///
/// All batches lock in the same order: Google's accounts and events, devices, subject rows, inserted rows,
/// the audit log chain, the event counter. Account commands lock subjects before they end grants, so neither
/// kind of batch sees a partial change by the other.
struct GrantBatch {
    let names: PostgresNames

    static func commit(_ commands: [GrantCommand], in session: PostgresSession) throws -> GrantCommitResult {
        guard !commands.isEmpty else { return GrantCommitResult(results: [], lastEventSequence: nil) }
        return try GrantCommitResult.committing(commands, storageError: { StorageError($0) }) { commands in
            try session.rollingBackFailures {
                let batch = GrantBatch(names: session.names)
                try session.names.apps.ensure(Set(commands.compactMap(\.app)), in: session)
                return try session.repeatingConflicts { try batch.commitOnce(commands, in: session) }
            }
        }
    }

    /// - Throws: `PostgresError` if a statement fails. The transaction must then be rolled back.
    private func commitOnce(
        _ commands: [GrantCommand], in session: PostgresSession
    ) throws -> GrantCommitResult {
        var set = GrantWorkingSet(commands)
        let found = try session.pipeline([.begin] + GrantSelectionRows.ownerCalls(set.question))
        let accounts = try found.last.map { try GrantSelectionRows.accounts(set.question, $0) } ?? []
        if !set.question.deviceDigests.isEmpty, let devices = found.dropLast().last {
            try DeviceRows.load(devices, into: &set)
        }
        let rowIDs = try load(&set, accounts, in: session)
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        var calls = GrantChangeWriter.calls(for: set.changes)
        calls += GrantChangeWriter.calls(set.deviceChanges)
        calls += GrantChangeWriter.calls(set.changedPaces)
        calls += GrantChangeWriter.calls(set.newGoogleEvents, set.changedGoogleAccounts)
        calls += AuditAppending(set.audit).calls
        var events = EventAppending()
        for event in set.events {
            guard let rowID = event.accountID.flatMap({ rowIDs[$0] }) else {
                throw StorageError(
                    .corrupted,
                    detail: "expected a row for the user of a grant, found none; restore a backup")
            }
            events.add(event, rowID: rowID)
        }
        guard !events.isEmpty else {
            _ = try session.pipeline(calls + [.commit])
            return GrantCommitResult(results: results, lastEventSequence: nil)
        }
        let rows = try session.pipeline(calls + [try events.call(names), .commit])
        return GrantCommitResult(
            results: results, lastEventSequence: try EventAppending.lastSequence(in: rows[calls.count]))
    }

    /// Locks the accounts, and reads all their rows. Returns each subject's row.
    private func load(
        _ set: inout GrantWorkingSet, _ accounts: [AccountID], in session: PostgresSession
    ) throws -> [AccountID: Int64] {
        let accountCalls = LockedAccounts.calls(for: accounts)
        let grantCalls = StoredGrantRows.calls(for: accounts)
        let contextCalls = GrantSelectionRows.calls(set.question, accounts)
        let results = try session.pipeline(
            accountCalls + grantCalls + contextCalls + DeviceRows.calls(set.question))
        let locked = try LockedAccounts(results[accountCalls.count - 1], names, in: session)
        for record in locked.records.values { set.load(record) }
        let rest = results.dropFirst(accountCalls.count)
        let held = try StoredGrantRows(rest.prefix(grantCalls.count), names, in: session)
        set.load(grants: held.grants, families: held.families, codes: held.codes)
        let context = rest.dropFirst(grantCalls.count)
        try GrantSelectionRows.load(context.prefix(contextCalls.count), into: &set)
        try DeviceRows.load(context.dropFirst(contextCalls.count), into: &set)
        return locked.rowIDs
    }
}

extension GrantCommand {
    /// The client ID of a new grant's app.
    fileprivate var app: ClientID? {
        switch self {
        case .authorize(let authorize): authorize.clientID
        case .assertion(let assertion): assertion.clientID
        case .exchange(let exchange): exchange.clientID
        case .decideDevice(let decide): decide.approval?.clientID
        case .beginDevice, .pollDevice, .redeem, .refresh, .revoke, .end, .endAll, .learnGoogleSubject,
            .googleEvent:
            nil
        }
    }
}

/// The accounts in a batch of grant commands, by ID: first locked, then read with all credentials.
///
/// Account commands take the same lock on the subject's row before they change a credential, erase a user or
/// move an account. The lock is exclusive, so it covers all of the account's data: grants, token families and
/// codes, including rows that do not exist yet. Sign-ins without new facts do not take this lock.
struct LockedAccounts {
    private static let find = TypedQuery<UserColumns, [AccountID]>("oauth_find_accounts") {
        UserColumns(&$0)
    } sql: {
        "SELECT \($0) FROM unnest(\($1)) AS k (id) \(UserColumns.joined(where: "account_id = k.id"))"
    }
    // The statement locks in name order, as account commands do. The lock does not block foreign key checks,
    // so another transaction's events need not wait. The statement has no join, because after a wait
    // PostgreSQL evaluates the conditions again. With a join, it would then omit a row that a transfer has
    // moved to another team, and would not lock it.
    private static let lock = TypedStatement<[AccountID]>("oauth_lock_accounts") { ids in
        """
        SELECT id FROM subject WHERE account_id = ANY (\(ids))
        ORDER BY (SELECT name FROM team WHERE team.id = team_id), sub FOR NO KEY UPDATE
        """
    }

    private(set) var records: [AccountID: SubjectRecord] = [:]
    private(set) var rowIDs: [AccountID: Int64] = [:]

    /// Returns calls that lock the accounts and then read them, because the second statement sees the commits
    /// that the first statement waited for.
    static func calls(for ids: [AccountID]) -> [PostgresCall] { [lock(ids), find.statement(ids)] }

    /// - Parameter rows: The last call's result. A missing account has no row.
    init(_ rows: PostgresRows, _ names: PostgresNames, in session: PostgresSession) throws {
        let columns = Self.find.columns
        for row in rows {
            let id = try row.required(columns.subject.accountID)
            var record = try records[id] ?? columns.record(row, names, in: session)
            try columns.credential.add(row, to: &record, names, in: session)
            records[id] = record
            rowIDs[id] = try row.required(columns.subject.id)
        }
    }
}

/// Ends the grants of credentials that account commands have ended. Runs in the commands' transaction, which
/// has locked the subjects.
struct EndedGrants {
    /// The transaction's events, with the grant events at their positions.
    let events: [AccountEvent]
    /// The audit log entries about the grants.
    let audit: [AuditEntry]
    /// The writes to make.
    let calls: [PostgresCall]

    private static let findHolders = TypedQuery<Column<AccountID>, [Int64?], [String?]>("oauth_find_holders")
    {
        $0.add("s.account_id", AccountID.self, as: "account_id")
    } sql: { list, teams, names in
        """
        SELECT \(list) FROM unnest(\(teams), \(names)) AS k (team_id, sub)
        CROSS JOIN LATERAL (
            SELECT account_id FROM subject
            WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
        WHERE s.account_id IS NOT NULL
            AND EXISTS (SELECT 1 FROM oauth_grant g WHERE g.account_id = s.account_id)
        """
    }

    /// Returns the query for accounts with grants, sent in the round trip that locks the subjects; `nil` if
    /// no command can end a credential, or if the accounts are not known yet.
    static func holdersCall(_ set: WorkingSet, _ keys: SubjectKeyArrays) -> PostgresCall? {
        guard set.hasRevocation else { return nil }
        return findHolders.statement(keys.teamNumbers, keys.names)
    }

    static func holders(_ rows: PostgresRows) throws -> Set<AccountID> {
        Set(try rows.map { try $0.required(findHolders.columns) })
    }

    /// Reads the grants in one round trip, and only if a credential has ended.
    ///
    /// - Parameter holders: Accounts that have grants; `nil` if the query was not sent.
    init(
        of set: WorkingSet, holders: Set<AccountID>?, _ names: PostgresNames, in session: PostgresSession
    ) throws {
        guard var ending = GrantEnding(of: set),
            holders.map({ !$0.isDisjoint(with: ending.accountIDs) }) ?? true
        else {
            (events, audit, calls) = (set.events, [], [])
            return
        }
        let results = try session.pipeline(StoredGrantRows.calls(for: ending.accountIDs))
        let held = try StoredGrantRows(results[...], names, in: session)
        ending.load(grants: held.grants, families: held.families, codes: held.codes)
        var generator = SystemRandomNumberGenerator()
        events = ending.carryOut(set.events, using: &generator)
        audit = ending.audit
        calls =
            GrantChangeWriter.calls(for: ending.changes)
            + GrantChangeWriter.forgetCalls(googleSubjects: ending.forgottenGoogleSubjects)
    }
}

extension WorkingSet {
    /// True for a notification that reports the end of a credential. Erasures and transfers are excluded,
    /// because they run alone and are rare enough for a separate round trip.
    fileprivate var hasRevocation: Bool {
        commands.contains { command in
            guard case .notification(let notification) = command else { return false }
            return notification.events.contains(where: \.isRevocation)
        }
    }
}
