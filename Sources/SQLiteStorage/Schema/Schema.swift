import AppleAccounts
import GRDB

/// The schema's migrations, and how a database is brought up to date.
enum Schema {
    static let migrations = [Migration.first, .second]

    /// "siwa" in ASCII: tells our databases from those of other programs.
    static let applicationID: Int64 = 0x7369_7761

    /// Runs what is missing, each migration in its own transaction.
    ///
    /// - Throws: `StorageError` `schemaTooNew` for a database of a newer version, `migrationFailed` for one
    ///   of another program or when a migration fails. Neither changes anything.
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
                try database.inTransaction(.immediate) {
                    try database.execute(sql: migration.sql)
                    // Neither takes a bound value; both numbers are our own.
                    try database.execute(sql: "PRAGMA application_id = \(applicationID)")
                    try database.execute(sql: "PRAGMA user_version = \(migration.number)")
                    return .commit
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                throw StorageError(.migrationFailed, detail: "\(migration.number): \(error.message ?? "")")
            }
        }
        return (version, max(version, migrations.count))
    }

    /// - Throws: `StorageError` `migrationFailed` for a database of another program.
    static func currentVersion(of database: Database) throws -> Int {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let owner = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        let isNew = version == 0 && owner == 0 && tables == 0
        guard isNew || owner == applicationID else {
            throw StorageError(.migrationFailed, detail: "it is another program's database")
        }
        return version
    }
}
