import AppleAccounts

extension Authorization {
    /// Reads moment and source from two columns. Returns `nil` when they are NULL.
    init?(_ row: PreparedStatement, at column: Int32) throws(StorageError) {
        guard let moment = row.moment(column), let source = row.integer(column + 1) else { return nil }
        self.init(moment: moment, source: try CredentialSource(storageCode: source))
    }
}

extension Revocation {
    /// Reads moment, reason and source from three columns. Returns `nil` when they are NULL.
    init?(_ row: PreparedStatement, at column: Int32) throws(StorageError) {
        guard let moment = row.moment(column), let reason = row.integer(column + 1),
            let source = row.integer(column + 2)
        else { return nil }
        self.init(
            moment: moment, reason: try CredentialReason(storageCode: reason),
            source: try CredentialSource(storageCode: source))
    }
}
