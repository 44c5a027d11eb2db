import AppleAccounts

/// Commits batches of commands by the cheapest path that is safe.
struct BatchCommitter: Sendable {
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    func commit(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        return try CommitResult.committing(commands, storageError: { StorageError($0) }) { commands in
            try session.rollingBackFailures { try commitTogether(commands, in: session) }
        }
    }

    /// Runs the statements that commit a batch of these commands, so that it meets the same locks and needs
    /// the same room. In a session that rehearses, only new names are kept.
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
                // The conflicting value may be one of our IDs rather than a row of another replica.
                if error.isAboutExistingRow { ids.forgetBlock() }
            },
            transaction: { try locking.commitOnce(commands, in: session) })
    }
}
