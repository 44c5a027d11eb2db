import AppleAccounts

extension StorageError {
    var problem: Problem {
        switch code {
        case .unavailable, .busy, .full, .readOnly, .corrupted, .schemaTooNew, .migrationFailed:
            Problem(.storageUnavailable)
        // The rules above the store let a value pass that no database takes: our mistake, and no use in trying again.
        case .valueRefused: Problem(.internalError)
        }
    }
}
