import AppleAccounts

/// Commits batches of commands by the cheapest path that is safe.
struct BatchCommitter: Sendable {
    /// Number of attempts for a batch that conflicts with another replica or meets its new row.
    static let mostAttempts = 5

    let ids: SubjectIDs
    let sealing: any GrantSealing

    func commit(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        do {
            return try attempt(commands, in: session)
        } catch let error where StorageError(error).code == .valueRefused {
            // One command has a value that no row accepts; the other commands must not fail with it.
            return commitOneByOne(commands, in: session)
        }
    }

    /// Runs the statements that commit a batch of these commands, so that it meets the same locks and needs
    /// the same room. In a session that rehearses, only new names are kept.
    func rehearse(_ commands: [AccountCommand], in session: PostgresSession) throws {
        try session.names.ensure(namesOf: commands, in: session)
        _ = try LockingBatch(names: session.names, ids: ids, sealing: sealing).commit(commands, in: session)
    }

    private func commitOneByOne(_ commands: [AccountCommand], in session: PostgresSession) -> CommitResult {
        var results: [CommandResult] = []
        var lastEventSequence: Int64?
        for command in commands {
            do {
                let result = try attempt([command], in: session)
                results += result.results
                lastEventSequence = result.lastEventSequence ?? lastEventSequence
            } catch {
                results.append(.failed(StorageError(error)))
            }
        }
        return CommitResult(results: results, lastEventSequence: lastEventSequence)
    }

    private func attempt(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        let names = session.names
        do {
            try names.ensure(namesOf: commands, in: session)
            if QuietBatch.isPossible(commands),
                let result = try QuietBatch(names: names, sealing: sealing)
                    .commit(commands, in: session)
            {
                return result
            }
            try session.rollBack()
            let locking = LockingBatch(names: names, ids: ids, sealing: sealing)
            for _ in 1..<Self.mostAttempts {
                do {
                    return try locking.commit(commands, in: session)
                } catch let error as PostgresError where error.isWorthRepeating {
                    // The conflicting value may be one of our IDs rather than a row of another replica.
                    if error.isAboutExistingRow { ids.forgetBlock() }
                    try session.rollBack()
                }
            }
            return try locking.commit(commands, in: session)
        } catch {
            try? session.rollBack()
            throw error
        }
    }
}
