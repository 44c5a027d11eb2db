import GRDB

extension Configuration {
    /// Returns the configuration for the single writing connection.
    static func writing(patience: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(patience)
        configuration.label = "siwa.sqlite.write"
        // Without this setting, a failed rollback would stop the process. The next transaction rolls back
        // again.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
            guard mode == "wal" else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN, message: "no write-ahead log: \(mode ?? "")")
            }
            // wal_autocheckpoint: a commit must not wait for the checkpoint that it makes due
            // (`LogCheckpoints`). FULL: the log is on the disk before a commit returns. The full fsync is for
            // macOS, where a plain fsync stops at the drive's cache.
            KeyDigest.functions.forEach(database.add)
            try database.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    PRAGMA fullfsync = ON;
                    PRAGMA checkpoint_fullfsync = ON;
                    PRAGMA wal_autocheckpoint = 0;
                    PRAGMA journal_size_limit = 33554432;
                    PRAGMA cache_size = -6144;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA secure_delete = ON;
                    """)
        }
        return configuration
    }

    /// Returns the configuration for connections that read on their callers' threads and must not wait.
    static func readingDirectly() -> Configuration {
        var configuration = reading()
        configuration.label = "siwa.sqlite.direct"
        configuration.busyMode = .immediateError
        // The cache has room for the inner pages above the credential pages of ten million users.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -8192") }
        return configuration
    }

    /// Returns the configuration for the read-only connection.
    static func reading() -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(3)
        configuration.label = "siwa.sqlite.read"
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            KeyDigest.functions.forEach(database.add)
            try database.execute(
                sql: """
                    PRAGMA cache_size = -2048;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA trusted_schema = OFF;
                    """)
        }
        return configuration
    }
}
