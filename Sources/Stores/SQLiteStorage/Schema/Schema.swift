import AppleAccounts
import GRDB
import SQLTables

/// The schema's migrations, and the code that applies them to a database.
enum Schema {
    static let migrations = [Migration.first, .second, .claimOrders]

    /// "siwa" in ASCII, which distinguishes the service's databases from other programs' databases.
    static let applicationID: Int64 = 0x7369_7761

    /// Runs the pending migrations, each in its own transaction.
    ///
    /// - Throws: `StorageError` `schemaTooNew` for a database of a newer version, `migrationFailed` for
    ///   another program's database or if a migration fails. In both cases the database stays unchanged.
    static func migrate(
        _ database: Database, _ migrations: [Migration] = migrations
    ) throws -> (from: Int, to: Int) {
        let version = try currentVersion(of: database)
        guard version <= migrations.count else {
            throw StorageError(
                .schemaTooNew, detail: "its schema is \(version), this version knows \(migrations.count)")
        }
        for migration in migrations.dropFirst(version) {
            do {
                if migration.rebuildsTables { try allowRebuilding(true, in: database) }
                defer { if migration.rebuildsTables { try? allowRebuilding(false, in: database) } }
                try database.inTransaction(.immediate) {
                    try database.execute(sql: migration.sql)
                    if migration.rebuildsTables { try database.checkForeignKeys() }
                    // These PRAGMAs accept no bound values; both numbers are constants of this module.
                    try database.execute(sql: "PRAGMA application_id = \(applicationID)")
                    try database.execute(sql: "PRAGMA user_version = \(migration.number)")
                    return .commit
                }
                // A migration can rewrite all pages. The checkpoint moves them out of the log before the next
                // migration adds its pages.
                _ = try? database.checkpoint(.passive)
            } catch let error as DatabaseError
                where [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH].contains(error.resultCode)
            {
                throw StorageError(.migrationFailed, detail: "\(migration.number): \(error.message ?? "")")
            }
        }
        return (version, max(version, migrations.count))
    }

    /// Prepares for rebuilding tables, or ends the rebuilding. Foreign keys are off in the meantime, because
    /// enforcing them would delete a dropped table's rows one by one. Sorting for an index of millions of
    /// rows uses temporary files.
    private static func allowRebuilding(_ isAllowed: Bool, in database: Database) throws {
        try database.execute(
            sql: """
                PRAGMA foreign_keys = \(isAllowed ? "OFF" : "ON");
                PRAGMA temp_store = \(isAllowed ? "FILE" : "MEMORY");
                """)
    }

    /// - Throws: `StorageError` `migrationFailed` for another program's database.
    static func currentVersion(of database: Database) throws -> Int {
        guard let version = try version(of: database) else {
            throw StorageError(.migrationFailed, detail: "it is another program's database")
        }
        return version
    }

    /// Returns the schema version: 0 for a new, empty database; `nil` for another program's database.
    static func version(of database: Database) throws -> Int? {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let owner = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        let isNew = version == 0 && owner == 0 && tables == 0
        return isNew || owner == applicationID ? version : nil
    }
}
