import AppleAccounts

extension Authorization {
    /// Reads moment and source from two columns. Returns `nil` when they are NULL.
    init?(_ rows: PostgresRows, _ row: Int, at column: Int) throws(StorageError) {
        guard let moment = rows.moment(row, column), let source = rows.integer(row, column + 1) else {
            return nil
        }
        self.init(moment: moment, source: try CredentialSource(storageCode: source))
    }
}

extension Revocation {
    /// Reads moment, reason and source from three columns. Returns `nil` when they are NULL.
    init?(_ rows: PostgresRows, _ row: Int, at column: Int) throws(StorageError) {
        guard let moment = rows.moment(row, column), let reason = rows.integer(row, column + 1),
            let source = rows.integer(row, column + 2)
        else { return nil }
        self.init(
            moment: moment, reason: try CredentialReason(storageCode: reason),
            source: try CredentialSource(storageCode: source))
    }
}
