import Logging
import PostgresStorage
import SQLiteStorage

extension ServiceSettings {
    /// Opens the database, or makes it, and brings its schema up to date. Throws `StorageError`.
    func openDatabase(logger: Logger) async throws -> any ServiceDatabase {
        switch database {
        case .sqlite(let path): try await SQLiteDatabase.open(path: path, logger: logger)
        case .postgres(let address):
            try await PostgresDatabase.open(
                url: address.text, connections: databaseConnections, logger: logger)
        }
    }
}
