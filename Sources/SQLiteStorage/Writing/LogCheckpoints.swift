import GRDB

/// The checkpoints of the connection that writes, each between two transactions.
///
/// SQLite's own way is to run a checkpoint inside of the COMMIT that makes the log long enough, and a whole
/// batch waits for it. What is committed is durable in the log; its callers need no checkpoint. So SQLite's
/// is switched off (`wal_autocheckpoint`), and this one runs when the callers have their results. Stays on
/// the queue of its connection.
struct LogCheckpoints {
    private var length = LogLength()

    /// Asked after each transaction, or after several that are not large.
    mutating func isDue(in database: Database) -> Bool {
        guard database.isOpen else { return false }
        length.append(database.takeCountOfWrittenPages())
        return length.isCheckpointDue
    }

    /// Copies the log into the database file, as far as readers allow. Waits for none.
    ///
    /// A failure is left to the next time: nothing is lost by it, and a transaction that meets the same
    /// trouble reports it.
    mutating func run(in database: Database) {
        guard let result = try? database.checkpoint(.passive) else { return }
        length.checkpointEnded(total: result.walFrameCount, copied: result.checkpointedFrameCount)
    }
}
