import SQLiteStorage

extension DatabaseLocation {
    /// Reads beside a running service. Throws `MissingDatabase`, `StorageError`.
    func inspection() throws -> SQLiteInspection {
        try checkPresence()
        return switch self {
        case .sqlite(let path): try SQLiteInspection(path: path)
        }
    }
}
