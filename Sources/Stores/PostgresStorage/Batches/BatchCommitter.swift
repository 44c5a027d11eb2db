import AppleAccounts
import SQLTables

/// Commits command batches by the cheapest safe path.
struct BatchCommitter: Sendable {
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    func commit(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        return try CommitResult.committing(commands, storageError: { StorageError($0) }) { commands in
            try session.rollingBackFailures { try commitTogether(commands, in: session) }
        }
    }

    /// Runs the statements that would commit a batch of these commands, so that a rehearsal needs the same
    /// locks and disk space. A session that rehearses rolls everything back except new names.
    func rehearse(_ commands: [AccountCommand], in session: PostgresSession) throws {
        try session.names.ensure(namesOf: commands, in: session)
        _ = try LockingBatch(names: session.names, ids: ids, sealing: sealing).commitOnce(
            commands, in: session)
    }

    private func commitTogether(
        _ commands: [AccountCommand], in session: PostgresSession
    ) throws -> CommitResult {
        let names = session.names
        try names.ensure(namesOf: commands, in: session)
        if QuietBatch.isPossible(commands),
            let result = try QuietBatch(names: names, sealing: sealing).commitIfQuiet(commands, in: session)
        {
            return result
        }
        try session.rollBack()
        let locking = LockingBatch(names: names, ids: ids, sealing: sealing)
        return try session.repeatingConflicts(
            onConflict: { error in
                // The conflicting value may be one of our own IDs instead of another replica's row.
                if error.isAboutExistingRow { ids.forgetBlock() }
            },
            transaction: { try locking.commitOnce(commands, in: session) })
    }
}

/// Commits a batch of any kind in one transaction: locks and loads their rows, applies the commands, and
/// saves the changes. A batch of any size takes two round trips; only erasures and transfers need more.
///
/// All batches lock in the same order: names without a row, subject rows, their credentials, App Attest keys,
/// key counts, inserted rows, the audit log chain, the event counter. The only row locked out of order is the
/// row of an account that moves (`KeyChanges`).
struct LockingBatch {
    // After the erasures were read, another replica could create a missing account under another name, and
    // erase it. The account's row then exists, so this statement either sees the erasure or waits for the
    // row.
    private static let checkTransferred = TypedStatement<[AccountID]>("check_transferred") {
        "SELECT expect_rows(count(*), 0) FROM erasure WHERE account_id = ANY (\($0))"
    }

    let names: PostgresNames
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    /// - Throws: `PostgresError` if a statement fails. The transaction must then be rolled back.
    func commitOnce(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        let groups = WorkingSet.groups(of: commands)
        var unsent = [PostgresCall.begin]
        let changesNames = commands.contains(where: \.standsAlone)
        if changesNames {
            // All subjects are locked in one order here, because otherwise the groups would lock their
            // subjects one after the other. The names are locked too, because a name may lose its row here
            // and get another row.
            unsent += LockedSubjects.lockAll(try SubjectKeyArrays(Self.subjectKeys(of: groups), names))
        }
        var results: [CommandResult] = []
        var (events, audit) = (EventAppending(), AuditAppending())
        var generator = SystemRandomNumberGenerator()
        for group in groups {
            var set = WorkingSet(group)
            let keys = try SubjectKeyArrays(set.subjectKeys, names)
            let locking = LockedSubjects(names: names, areNamesLocked: changesNames)
            var (rowIDs, holders) = try load(&set, keys, locking, after: unsent, in: session)
            let keyChanges = KeyChanges(subjects: PostgresSubjects(names: names))
            let movingRowID = try keyChanges.loadMoving(&set, in: session)
            results += set.applyCommands(using: &generator)
            if set.changesKeys {
                try carryOut(keyChanges, set, &rowIDs, movingRowID: movingRowID, &events, in: session)
            }
            unsent = try WorkingSetSaver(names: names, ids: ids, sealing: sealing)
                .calls(for: set, order: keys.positions, rowIDs: &rowIDs, in: session)
            if !set.finishedTransfers.isEmpty { unsent.append(Self.checkTransferred(set.finishedTransfers)) }
            let ended = try EndedGrants(of: set, holders: holders, names, in: session)
            unsent += ended.calls
            for erasure in set.erasures { audit.forget(erasure.accountID) }
            audit.add(set.audit)
            audit.add(ended.audit)
            for event in ended.events {
                guard let rowID = rowIDs[set.position(of: event)] else {
                    throw StorageError(
                        .corrupted, detail: "expected a row for the subject of an event, found none")
                }
                events.add(event, rowID: rowID)
            }
        }
        let lastSequence = try finish(unsent + audit.calls, events, in: session)
        return CommitResult(results: results, lastEventSequence: lastSequence)
    }

    private static func subjectKeys(of groups: [[AccountCommand]]) -> [SubjectKey] {
        Array(Set(groups.flatMap { WorkingSet($0).subjectKeys }))
    }

    /// Sends the unsent statements and reads in the same round trip, then reads codes and tokens in another.
    /// Returns each subject's row ID, `nil` for subjects without a row, and the accounts that have OAuth
    /// grants if the query for them was sent.
    private func load(
        _ set: inout WorkingSet, _ keys: SubjectKeyArrays, _ locking: LockedSubjects,
        after unsent: [PostgresCall], in session: PostgresSession
    ) throws -> (rowIDs: [Int64?], holders: Set<AccountID>?) {
        let subjectCalls = locking.calls(for: keys)
        let nonceCalls = [NonceRows.findCall(set.nonceDigests)].compactMap { $0 }
        let inbox = InboxRows(names: names)
        let inboxCalls = try inbox.findCalls(for: set)
        let keyCalls = AttestedKeyRows.lockCalls(for: set)
        // This query runs after the locks, so that no other transaction can add a grant in between.
        let holdersCall = EndedGrants.holdersCall(set, keys)
        let results = try session.pipeline(
            unsent + subjectCalls + nonceCalls + inboxCalls + keyCalls + (holdersCall.map { [$0] } ?? []))

        var rest = results.dropFirst(unsent.count)
        let rowIDs = try locking.load(rest.prefix(subjectCalls.count), of: keys, into: &set, in: session)
        rest = rest.dropFirst(subjectCalls.count)
        for nonces in rest.prefix(nonceCalls.count) { NonceRows.load(nonces, into: &set) }
        rest = rest.dropFirst(nonceCalls.count)
        inbox.load(rest.prefix(inboxCalls.count), into: &set)
        rest = rest.dropFirst(inboxCalls.count)
        try AttestedKeyRows.load(locked: rest.prefix(keyCalls.count), into: &set)
        let holders = try holdersCall.flatMap { _ in try results.last.map(EndedGrants.holders) }

        let accounts = set.appleTokenAccounts
        guard !accounts.isEmpty else { return (rowIDs, holders) }
        for (account, held) in try PostgresAppleTokenReader.load(accounts, in: session) {
            set.load(held, of: account)
        }
        return (rowIDs, holders)
    }

    private func carryOut(
        _ keyChanges: KeyChanges, _ set: WorkingSet, _ rowIDs: inout [Int64?], movingRowID: Int64?,
        _ events: inout EventAppending, in session: PostgresSession
    ) throws {
        let before = rowIDs
        try keyChanges.carryOut(set, rowIDs: &rowIDs, movingRowID: movingRowID, in: session)
        // The events of the replaced row are either already stored or part of this transaction.
        if let rekeying = set.rekeying, !rekeying.leavesTombstone, let movingRowID,
            let replaced = before[set.position(of: rekeying.to)]
        {
            events.moveEventsWithoutAccount(from: replaced, to: movingRowID)
        }
    }

    /// Sends the unsent statements, then the events, then the commit. Returns the last event's number.
    private func finish(
        _ unsent: [PostgresCall], _ events: EventAppending, in session: PostgresSession
    ) throws -> Int64? {
        guard !events.isEmpty else {
            _ = try session.pipeline(unsent + [.commit])
            return nil
        }
        let results = try session.pipeline(unsent + [try events.call(names), .commit])
        return try EventAppending.lastSequence(in: results[unsent.count])
    }
}

extension WorkingSet {
    fileprivate var changesKeys: Bool {
        rekeying != nil || !finishedTransfers.isEmpty || !erasures.isEmpty
    }
}

/// The rare parts of a batch, which run alone: erasures, and changes of an account's key. They run in the
/// batch's transaction, with its subject rows locked.
struct KeyChanges {
    let subjects: PostgresSubjects

    /// Loads and locks the account that may move to another subject. Returns its row ID.
    ///
    /// The row is locked outside the name order, because only the database knows its name. This can deadlock
    /// with a batch that needs both rows; the database then aborts one of the two transactions, and its batch
    /// is repeated.
    func loadMoving(_ set: inout WorkingSet, in session: PostgresSession) throws -> Int64? {
        if let (team, transferSubject) = set.transferQuestion,
            let transfer = try session.transfer(team: team, transferSubject: transferSubject)
        {
            set.load(transfer)
        }
        guard let id = set.movingAccountID else { return nil }
        let found = try subjects.find(id, in: session, locking: true)
        // The erasures are read after the lock, so that an erasure that held the lock is visible.
        set.load(moving: found?.record, isErased: try ErasureStatements.isErased(id, in: session))
        return found?.rowID
    }

    /// Runs the statements that must come before subjects and credentials are saved. They clear the revocation
    /// in an erased subject's row, and delete the credentials of a re-keyed row.
    func carryOut(
        _ set: WorkingSet, rowIDs: inout [Int64?], movingRowID: Int64?, in session: PostgresSession
    ) throws {
        var calls: [SQLCall] = []
        if let rekeying = set.rekeying, let movingRowID {
            let position = set.position(of: rekeying.to)
            calls += TransferStatements.carryOut(
                rekeying, rowID: movingRowID, replacing: rekeying.leavesTombstone ? nil : rowIDs[position])
            rowIDs[position] = movingRowID
        }
        calls += set.finishedTransfers.map { TransferStatements.remove($0) }
        for erasure in set.erasures {
            guard let rowID = rowIDs[0] else {
                throw StorageError(
                    .corrupted, detail: "expected a row for an erased account, found none; restore a backup")
            }
            calls += ErasureStatements.carryOut(erasure, key: set.subjectKeys[0], rowID: rowID)
        }
        try session.run(calls)
    }
}

/// Turns a working set's changes into statements, whose number does not depend on the set's size.
struct WorkingSetSaver {
    let names: PostgresNames
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    /// Returns all statements except the events, which run at the end of the transaction.
    ///
    /// - Parameters:
    ///   - order: The subjects' positions, in the order in which all replicas insert new rows.
    ///   - rowIDs: The subjects' row IDs; new subjects get an ID here.
    func calls(
        for set: WorkingSet, order: [Int], rowIDs: inout [Int64?], in session: PostgresSession
    ) throws -> [PostgresCall] {
        var (newSubjects, changedSubjects) = (SubjectArrays(), SubjectArrays())
        var (putCredentials, changedCredentials) = (CredentialArrays(), CredentialArrays())
        for position in order {
            let record = set.subjects[position]
            if record.rowChange == .insert {
                let rowID = try ids.next(in: session)
                rowIDs[position] = rowID
                newSubjects.add(record, rowID: rowID)
            }
            guard let rowID = rowIDs[position] else { continue }
            if record.rowChange == .update, !record.isTombstone { changedSubjects.add(record, rowID: rowID) }
            // An erasure adds a new revocation to a row that needs no other write.
            if record.rowChange != .none || !set.erasures.isEmpty, let facts = record.factsOfAllApps {
                putCredentials.add(facts, rowID: rowID)
            }
            for credential in record.credentials {
                let app = try names.apps.ensuredNumber(of: credential.clientID)
                let email = record.email?.moment
                switch credential.rowChange {
                case .insert: putCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .update: changedCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .none where record.rowChange == .update:
                    // The credential is rewritten. A concurrent sign-in that read the subject's old state
                    // without a lock then finds a changed credential.
                    changedCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .none: break
                }
            }
        }
        let subjectCalls = [
            try newSubjects.insertCall(names), changedSubjects.updateCall(), changedCredentials.updateCall(),
            putCredentials.putCall(),
        ]
        let inboxCall = try InboxRows(names: names).insertCall(set.keptNotifications)
        let grantCalls = try PostgresAppleTokenWriter.calls(for: set.appleTokenChanges, sealing: sealing)
        return subjectCalls.compactMap { $0 } + grantCalls
            + AttestedKeyRows.saveCalls(set)
            + [NonceRows.insertCall(set), inboxCall, try HistoryRows.appendCall(set, names)]
            .compactMap { $0 }
    }
}
