import AppleAccounts

extension PostgresRows {
    /// Itself, the answer about the row of `event_counter`, of which there is always one.
    ///
    /// - Throws: `StorageError` `corrupted` when somebody has emptied the table.
    func requireEventCounter() throws(StorageError) -> PostgresRows {
        guard count == 1 else { throw StorageError(.corrupted, detail: "there is no event counter") }
        return self
    }
}
