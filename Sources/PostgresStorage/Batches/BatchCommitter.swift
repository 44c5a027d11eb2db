import AppleAccounts

/// Commits batches of commands, the cheapest way that is safe.
struct BatchCommitter: Sendable {
    /// How often a batch is begun again because another replica met the same new row, or was in the way.
    static let mostAttempts = 5

    let ids: SubjectIDs
    let sealing: any GrantSealing

    func commit(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        do {
            return try attempt(commands, in: session)
        } catch let error where StorageError(error).code == .valueRefused {
            // One of them has a value that no row takes, which must not be the fault of the others.
            return commitOneByOne(commands, in: session)
        }
    }

    /// Does what commits such a batch, so that it meets the same locks and needs the same room. In a session
    /// that rehearses, nothing of it is kept but names that are new.
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
                    // It may be one of our IDs that is taken, and not what another has inserted.
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
