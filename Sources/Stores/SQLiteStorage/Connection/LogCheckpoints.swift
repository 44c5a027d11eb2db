import GRDB
import GRDBSQLite

/// Checkpoints of the connection that writes. They run between transactions.
///
/// By default SQLite runs a checkpoint inside the COMMIT that makes the log long enough, and a whole batch
/// waits for it. A commit is durable in the log; its callers need no checkpoint. So SQLite's checkpoints are
/// disabled (`wal_autocheckpoint`), and these checkpoints run after the callers have their results. Stays on
/// the queue of its connection.
struct LogCheckpoints {
    private var length = LogLength()

    /// Returns true if a checkpoint is due. Called after one transaction, or after several small
    /// transactions.
    mutating func isDue(in database: Database) -> Bool {
        guard database.isOpen else { return false }
        length.append(database.takeCountOfWrittenPages())
        return length.isCheckpointDue
    }

    /// Copies the log into the database file, as far as readers allow, without waiting for them.
    ///
    /// The next call retries a failed checkpoint: the failure loses no data, and a transaction that fails for
    /// the same cause reports it.
    mutating func run(in database: Database) {
        guard let result = try? database.checkpoint(.passive) else { return }
        length.checkpointEnded(total: result.walFrameCount, copied: result.checkpointedFrameCount)
    }
}

/// Length of the write-ahead log, and the need for a checkpoint. Does no I/O.
///
/// A frame of the log is one page of the file. Only frames of this connection are counted, because no other
/// connection writes.
struct LogLength: Equatable {
    /// Number of frames after which a checkpoint is due. With millions of accounts nearly every frame is a
    /// different page, and a commit that arrives during a checkpoint waits until they are written. So
    /// checkpoints are frequent and short.
    static let longest = 400

    /// The number of frames that an earlier process left in the log is unknown until the first checkpoint.
    private var frames = longest

    var isCheckpointDue: Bool { frames >= Self.longest }

    mutating func append(_ count: Int) {
        frames += count
    }

    /// - Parameters:
    ///   - total: Number of frames in the log.
    ///   - copied: Number of frames that are in the database file now. Other frames stay in the log
    ///     while a reader needs the older state of the file.
    mutating func checkpointEnded(total: Int, copied: Int) {
        // After all frames are copied, the next transaction overwrites the log from its start. Otherwise each
        // transaction tries again, which costs nothing while the reader needs the older state.
        frames = copied < total ? total : 0
    }
}

extension Database {
    /// Indicates that the connection is open. Calls on a closed connection must not reach SQLite, which does
    /// not always check for this.
    var isOpen: Bool { sqliteConnection != nil }

    /// Returns the number of pages that this connection has written to the log, or to a temporary file, since
    /// the last call.
    ///
    /// SQLite has no SQL for this count. The C function keeps no pointer.
    func takeCountOfWrittenPages() -> Int {
        guard let connection = sqliteConnection else { return 0 }
        var count: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 1)
        return code == SQLITE_OK ? Int(count) : 0
    }
}
