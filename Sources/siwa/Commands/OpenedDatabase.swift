import Logging

/// The database of a command that writes, opened as the service opens it. A SQLite file has only one of them at a time;
/// with PostgreSQL the command runs beside the service.
enum OpenedDatabase {
    /// Throws `MissingDatabase` instead of making one, and `StorageError`, `.busy` while the service has the file.
    static func with<Result>(
        _ settings: ServiceSettings, _ body: (any ServiceStore) async throws -> Result
    ) async throws -> Result {
        try await settings.database.checkPresence()
        let database = try await settings.openDatabase(logger: Logger(label: "siwa"))
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
