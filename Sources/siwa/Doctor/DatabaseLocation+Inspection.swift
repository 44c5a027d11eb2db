import SQLiteStorage

extension DatabaseLocation {
    /// Reads beside a running service. Throws `StorageError`.
    func inspection() throws -> SQLiteInspection {
        switch self {
        case .sqlite(let path): try SQLiteInspection(path: path)
        }
    }
}
