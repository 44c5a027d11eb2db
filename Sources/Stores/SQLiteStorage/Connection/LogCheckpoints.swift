import GRDB

/// The checkpoints of the connection that writes, each between two transactions.
///
/// By default SQLite runs a checkpoint inside the COMMIT that makes the log long enough, and a whole batch
/// waits for it. A commit is durable in the log; its callers need no checkpoint. So SQLite's checkpoints are
/// switched off (`wal_autocheckpoint`), and these run after the callers have their results. Stays on the
/// queue of its connection.
struct LogCheckpoints {
    private var length = LogLength()

    /// Returns true if a checkpoint is due. Called after each transaction, or after several small
    /// transactions.
    mutating func isDue(in database: Database) -> Bool {
        guard database.isOpen else { return false }
        length.append(database.takeCountOfWrittenPages())
        return length.isCheckpointDue
    }

    /// Copies the log into the database file, as far as readers allow, without waiting for them.
    ///
    /// A failed checkpoint is retried at the next call: it loses no data, and a transaction that fails for
    /// the same cause reports it.
    mutating func run(in database: Database) {
        guard let result = try? database.checkpoint(.passive) else { return }
        length.checkpointEnded(total: result.walFrameCount, copied: result.checkpointedFrameCount)
    }
}
