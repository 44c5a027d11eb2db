import AppleAccounts

/// Commits a batch of sign-ins of known people who bring nothing new, which nearly all are, without locking
/// anything that it does not write.
///
/// It reads, applies, and then changes the credentials only if each is still the very row version that it has
/// seen. A transaction that changes a subject's row, or what holds for all apps, also writes the subject's
/// credentials again. So this one condition covers everything that a sign-in depends on.
struct QuietBatch {
    let names: PostgresNames
    let sealing: any GrantSealing

    /// Whether it can be tried with these.
    static func isPossible(_ commands: [AccountCommand]) -> Bool {
        commands.allSatisfy { command in
            switch command {
            case .signIn(let signIn): signIn.transferSubject == nil
            case .notification, .finishExchange, .rejectRefreshToken, .erase, .transfer: false
            }
        }
    }

    /// Returns `nil`, and has changed nothing, when there is more to do, or others were faster.
    func commit(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult? {
        var set = WorkingSet(commands)
        let seen = try load(&set, in: session)
        // Of a person without row there may be what an erasure has left.
        guard seen.areAllKnown else { return nil }
        var generator = SystemRandomNumberGenerator()
        let results = set.apply(using: &generator)
        guard set.isQuiet else { return nil }
        var calls = seen.updateCalls(for: set)
        calls += NonceRows.useUnusedCalls(set)
        calls += try PostgresGrantWriter.calls(for: set.grantChanges, sealing: sealing)
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
        let nonceCall = NonceRows.findCall(set.nonceDigests, locking: false)
        let calls = [SeenSubjects.call(for: keys), nonceCall].compactMap { $0 }
        let results = try session.pipeline(calls)
        if nonceCall != nil, let nonces = results.last { NonceRows.load(nonces, into: &set) }
        guard !keys.isEmpty else { return SeenSubjects() }
        return try SeenSubjects(results[0], of: keys, into: &set, names, in: session)
    }
}

extension WorkingSet {
    /// Whether nothing but credentials that were there, nonces and new codes are to be written.
    fileprivate var isQuiet: Bool {
        guard events.isEmpty, keptNotifications.isEmpty, erasures.isEmpty, rekeying == nil,
            finishedTransfers.isEmpty
        else { return false }
        let onlyNewCodes = grantChanges.allSatisfy { change in
            if case .insertCode = change { true } else { false }
        }
        return onlyNewCodes
            && subjects.allSatisfy { subject in
                subject.rowChange == .none && subject.credentials.allSatisfy { $0.rowChange != .insert }
            }
    }
}
