import PostgresStorage
import SQLiteStorage

extension DatabaseLocation {
    /// Opens the database for reading, also while the service runs. Throws `StorageError`.
    func inspection() throws -> any DatabaseInspection {
        switch self {
        case .sqlite(let path): try SQLiteInspection(path: path)
        case .postgres(let address): try PostgresInspection(url: address.text)
        }
    }
}
