import AppleAccounts

/// The rare parts of a batch, which run alone: erasures, and accounts that get another key. It runs in the
/// batch's transaction, with the rows of its subjects locked.
struct KeyChanges {
    let subjects: PostgresSubjects

    /// Loads and locks the account that may move to another subject. Returns the ID of its row.
    ///
    /// The row is locked outside the order of names, because only the database knows its name. This can
    /// deadlock with a batch that needs both rows: the database aborts one of the two transactions, and its
    /// batch is repeated.
    func loadMoving(_ set: inout WorkingSet, in session: PostgresSession) throws -> Int64? {
        if let (team, transferSubject) = set.transferQuestion,
            let transfer = try TransferRows.find(
                team: team, transferSubject: transferSubject, in: session)
        {
            set.load(transfer)
        }
        guard let id = set.movingAccountID else { return nil }
        let found = try subjects.find(id, in: session, locking: true)
        // After the lock, so that an erasure that held the lock is seen.
        set.load(moving: found?.record, isErased: try ErasureRows.isErased(id, in: session))
        return found?.rowID
    }

    /// Returns the statements that run before subjects and credentials are saved. An erased subject's row is
    /// left without revocation, a re-keyed row without credentials.
    func carryOut(
        _ set: WorkingSet, rowIDs: inout [Int64?], movingRowID: Int64?, in session: PostgresSession
    ) throws {
        var calls: [PostgresCall] = []
        if let rekeying = set.rekeying, let movingRowID {
            let position = set.position(of: rekeying.to)
            let replaced = rekeying.leavesTombstone ? nil : rowIDs[position]
            calls += Renaming.calls(rowID: movingRowID, to: rekeying.to, replacing: replaced)
            // A later erasure would not find these keys: the user's old `sub` is stored nowhere.
            calls += InboxErasure.calls(rekeying.from.subject)
            rowIDs[position] = movingRowID
        }
        if !set.finishedTransfers.isEmpty { calls.append(TransferRows.removal(of: set.finishedTransfers)) }
        for erasure in set.erasures {
            guard let rowID = rowIDs[0] else {
                throw StorageError(
                    .corrupted, detail: "expected a row for an erased account, found none; restore a backup")
            }
            calls += ErasureWriter.calls(erasure, key: set.subjectKeys[0], rowID: rowID)
        }
        _ = try session.pipeline(calls)
    }
}
