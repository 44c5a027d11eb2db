import PostgresStorage
import SQLiteStorage

extension DatabaseLocation {
    /// Reads beside a running service. Throws `StorageError`.
    func inspection() throws -> any DatabaseInspection {
        switch self {
        case .sqlite(let path): try SQLiteInspection(path: path)
        case .postgres(let address): try PostgresInspection(url: address.text)
        }
    }
}
