import AppleAccounts

/// Commits a batch of any commands in one transaction: locks and loads their rows, applies the commands,
/// saves the changes. A batch of any size takes two round trips; more only for erasures and transfers.
///
/// Locks are taken in one order: names without row, rows of subjects, their credentials, keys of App Attest,
/// their counts, inserted rows, the chain of the audit log, the event counter. Only the row of an account that moves is locked out of order (`KeyChanges`).
struct LockingBatch {
    let names: PostgresNames
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    /// - Throws: `PostgresError`. The transaction must then be rolled back.
    func commitOnce(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        let groups = WorkingSet.groups(of: commands)
        var unsent = [PostgresCall.begin]
        let changesNames = commands.contains(where: \.standsAlone)
        if changesNames {
            // All subjects in one order, because the groups lock their subjects one after the other. The
            // names are locked too, because a name may lose its row here and get another row.
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
            unsent += TransferRows.check(of: set.finishedTransfers)
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
    /// Returns the row ID of each subject, `nil` for subjects without a row, and the accounts that have OAuth
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
        // After the locks, so that no grant can be added between the two.
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
        // The events of the replaced row are stored already, or wait here.
        if let rekeying = set.rekeying, !rekeying.leavesTombstone, let movingRowID,
            let replaced = before[set.position(of: rekeying.to)]
        {
            events.moveEventsWithoutAccount(from: replaced, to: movingRowID)
        }
    }

    /// Sends the unsent statements, then the events, then the commit. Returns the number of the last event.
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
