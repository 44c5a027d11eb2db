import GRDB
import GRDBSQLite

extension Database {
    /// Whether the connection can still be used. What comes after it was closed must not reach SQLite, which
    /// does not check for it everywhere.
    var isOpen: Bool { sqliteConnection != nil }

    /// How many pages this connection has written to the log since the last call, or to a temporary file.
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
