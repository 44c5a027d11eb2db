import Logging
import PostgresStorage
import SQLiteStorage

extension ServiceSettings {
    /// Opens or creates the database and migrates its schema. Throws `StorageError`.
    func openDatabase(logger: Logger) async throws -> any ServiceDatabase {
        switch database {
        case .sqlite(let path): try await SQLiteDatabase.open(path: path, logger: logger)
        case .postgres(let address):
            try await PostgresDatabase.open(
                url: address.text, connections: databaseConnections, logger: logger)
        }
    }
}
