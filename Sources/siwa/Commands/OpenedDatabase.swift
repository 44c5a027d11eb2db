import AppleAccounts
import Logging
import SQLiteStorage

/// The database of a command that writes: opened as the service opens it, so that only one of them has it.
enum OpenedDatabase {
    /// Throws `MissingDatabase` instead of making one, and `StorageError`, `.busy` while the service has the file.
    static func with<Result>(
        _ location: DatabaseLocation, _ body: (SQLiteAccountStore) async throws -> Result
    ) async throws -> Result {
        try location.checkPresence()
        switch location {
        case .sqlite(let path):
            let database = try await SQLiteDatabase.open(path: path, logger: Logger(label: "siwa"))
            do {
                let result = try await body(database.accounts)
                await database.close()
                return result
            } catch {
                await database.close()
                throw error
            }
        }
    }
}
