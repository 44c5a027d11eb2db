import AppleAccounts
import AuthorizationServer

/// Commits a batch of grant commands, of any size, in one transaction of three round trips.
///
/// Locks are taken in one order: Google's accounts and events, devices, the rows of subjects, inserted rows,
/// the chain of the audit log, the event counter. Account commands lock subjects before they end grants, so neither sees half of the other.
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

    /// - Throws: `PostgresError`. The transaction must then be rolled back.
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

    /// Locks the accounts, and reads all of their rows. Returns the row of each subject.
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
    /// The app of a new grant.
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
