import GRDB
import GRDBSQLite

extension Database {
    /// Indicates that the connection is open. Calls after it was closed must not reach SQLite, which does not
    /// check for this everywhere.
    var isOpen: Bool { sqliteConnection != nil }

    /// Returns the number of pages that this connection has written to the log, or to a temporary file, since
    /// the last call.
    ///
    /// SQLite has no SQL for it. The C function keeps no pointer.
    func takeCountOfWrittenPages() -> Int {
        guard let connection = sqliteConnection else { return 0 }
        var count: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 1)
        return code == SQLITE_OK ? Int(count) : 0
    }
}
