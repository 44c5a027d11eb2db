import AppleAccounts

/// What a batch does seldom, and then alone: erasures, and accounts that get another name. It runs in the
/// batch's transaction, with the rows of its subjects locked.
struct KeyChanges {
    let subjects: PostgresSubjects

    /// Loads what an account that may go to another subject brings along, and locks it. Returns its row's ID.
    ///
    /// It is locked out of the order of names, because only the database says what its name is. A batch that
    /// has both of them can wait for this one then, and this one for the batch: the database ends one, which
    /// is begun again.
    func loadMoving(_ set: inout WorkingSet, in session: PostgresSession) throws -> Int64? {
        if let (team, transferSubject) = set.transferQuestion,
            let transfer = try TransferRows.find(
                team: team, transferSubject: transferSubject, in: session)
        {
            set.load(transfer)
        }
        guard let id = set.movingAccountID else { return nil }
        let found = try subjects.find(id, in: session, locking: true)
        // After it: an erasure that was waited for is seen.
        set.load(moving: found?.record, isErased: try ErasureRows.isErased(id, in: session))
        return found?.rowID
    }

    /// To be done before subjects and credentials are saved. An erased subject's row is left without
    /// revocation, a renamed one without credentials.
    func carryOut(
        _ set: WorkingSet, rowIDs: inout [Int64?], movingRowID: Int64?, in session: PostgresSession
    ) throws {
        var calls: [PostgresCall] = []
        if let rekeying = set.rekeying, let movingRowID {
            let position = set.position(of: rekeying.to)
            let replaced = rekeying.leavesTombstone ? nil : rowIDs[position]
            calls += Renaming.calls(rowID: movingRowID, to: rekeying.to, replacing: replaced)
            // An erasure would not find it any more: the old name of the person is stored nowhere.
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
