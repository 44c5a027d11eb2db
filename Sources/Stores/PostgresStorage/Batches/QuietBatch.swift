import AppleAccounts

/// Commits a batch of sign-ins of known users without new facts, and of proofs of App Attest, which nearly all
/// batches are, without a lock on rows that it does not write.
///
/// It reads, applies, and then changes each credential only if its row still has the version that was read. A
/// transaction that changes a subject's row, or a fact that holds for all apps, also rewrites the subject's
/// credentials. So this one condition covers everything that a sign-in depends on. The counter of a key rises only
/// if the stored counter is still lower.
struct QuietBatch {
    let names: PostgresNames
    let sealing: any AppleTokenSealing

    /// Returns true if these commands may take the quiet path.
    static func isPossible(_ commands: [AccountCommand]) -> Bool {
        commands.allSatisfy { command in
            switch command {
            case .signIn(let signIn): signIn.transferSubject == nil
            case .useProof: true
            case .notification, .finishExchange, .rejectRefreshToken, .erase, .transfer, .registerKey,
                .disable,
                .enable, .signOut:
                false
            }
        }
    }

    /// Returns `nil`, and has changed nothing, when the batch has more to write or another transaction was
    /// faster.
    func commitIfQuiet(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult? {
        var set = WorkingSet(commands)
        let seen = try load(&set, in: session)
        // A user without a row may have a tombstone.
        guard seen.areAllKnown else { return nil }
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        guard set.isQuiet else { return nil }
        var calls = seen.updateCalls(for: set)
        // Before the nonces, as in `LockingBatch`.
        if let keyCall = AttestedKeyRows.raiseCall(set) { calls.append(keyCall) }
        if let nonceCall = NonceRows.insertCall(set) { calls.append(nonceCall) }
        calls += try PostgresAppleTokenWriter.calls(for: set.appleTokenChanges, sealing: sealing)
        if let historyCall = try HistoryRows.appendCall(set, names) { calls.append(historyCall) }
        if calls.count > 1 { calls = [.begin] + calls + [.commit] }
        do {
            _ = try session.pipeline(calls)
        } catch let error as PostgresError where error.isWorthRepeating {
            return nil
        }
        return CommitResult(results: results, lastEventSequence: nil)
    }

    private func load(_ set: inout WorkingSet, in session: PostgresSession) throws -> SeenSubjects {
        let keys = try SubjectKeyArrays(set.subjectKeys, names)
        let nonceCall = NonceRows.findCall(set.nonceDigests)
        let keyCall = AttestedKeyRows.findCall(set.attestedKeyIDs)
        let calls = [SeenSubjects.call(for: keys), nonceCall, keyCall].compactMap { $0 }
        let results = try session.pipeline(calls)
        var rest = results[...]
        if keyCall != nil, let rows = rest.popLast() { try AttestedKeyRows.load(rows, into: &set) }
        if nonceCall != nil, let nonces = rest.popLast() { NonceRows.load(nonces, into: &set) }
        guard !keys.isEmpty else { return SeenSubjects() }
        return try SeenSubjects(results[0], of: keys, into: &set, names, in: session)
    }
}

extension WorkingSet {
    /// Indicates that the only writes are existing credentials, nonces, counters, new codes and histories.
    fileprivate var isQuiet: Bool {
        guard events.isEmpty, audit.isEmpty, keptNotifications.isEmpty, erasures.isEmpty, rekeying == nil,
            finishedTransfers.isEmpty
        else { return false }
        let onlyNewCodes = appleTokenChanges.allSatisfy { change in
            if case .insertCode = change { true } else { false }
        }
        return onlyNewCodes
            && subjects.allSatisfy { subject in
                subject.rowChange == .none && subject.credentials.allSatisfy { $0.rowChange != .insert }
            }
    }
}
