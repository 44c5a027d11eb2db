import GRDB
import GRDBSQLite

/// The writing connection's checkpoints, which run between transactions.
///
/// By default, SQLite runs a checkpoint inside the COMMIT that makes the log long enough, so a whole batch
/// waits for it. But a commit is already durable in the log, and its callers need no checkpoint. So SQLite's
/// checkpoints are disabled (`wal_autocheckpoint`), and these run after the callers have their results. Must
/// stay on its connection's queue.
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
    /// The next call retries a failed checkpoint. The failure loses no data, and if its cause also makes a
    /// transaction fail, the transaction reports it.
    mutating func run(in database: Database) {
        guard let result = try? database.checkpoint(.passive) else { return }
        length.checkpointEnded(total: result.walFrameCount, copied: result.checkpointedFrameCount)
    }
}

/// Tracks the length of the write-ahead log, and decides when a checkpoint is due. Does no I/O.
///
/// A log frame is one page of the file. Only this connection's frames are counted, because no other
/// connection writes.
struct LogLength: Equatable {
    /// Number of frames that make a checkpoint due. With millions of accounts, nearly every frame is a
    /// different page, and a commit that arrives during a checkpoint waits until all frames are written. So
    /// checkpoints are kept frequent and short.
    static let longest = 400

    /// Starts at the limit, because an earlier process may have left any number of frames in the log.
    private var frames = longest

    var isCheckpointDue: Bool { frames >= Self.longest }

    mutating func append(_ count: Int) {
        frames += count
    }

    /// - Parameters:
    ///   - total: Number of frames in the log.
    ///   - copied: Number of frames that are now in the database file. The other frames stay in the log while
    ///     a reader needs the file's older state.
    mutating func checkpointEnded(total: Int, copied: Int) {
        // Once all frames are copied, the next transaction overwrites the log from its start. Until then,
        // each transaction tries again, which costs nothing while the reader needs the older state.
        frames = copied < total ? total : 0
    }
}

extension Database {
    /// True while the connection is open. Calls on a closed connection must not reach SQLite, because SQLite
    /// does not always check for them.
    var isOpen: Bool { sqliteConnection != nil }

    /// Returns the number of pages that this connection has written to the log, or to a temporary file, since
    /// the last call.
    ///
    /// Calls a C function, because SQLite has no SQL for this count. The function keeps no pointer.
    func takeCountOfWrittenPages() -> Int {
        guard let connection = sqliteConnection else { return 0 }
        var count: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 1)
        return code == SQLITE_OK ? Int(count) : 0
    }
}
