import AppleAccounts

extension StorageError {
    /// Maps a failure of PostgreSQL or libpq to the service's error. The detail has their words and the name
    /// of the statement, never values.
    init(_ error: any Error) {
        switch error {
        case let error as StorageError: self = error
        case let error as PostgresError:
            let code = Code(sqlState: error.sqlState)
            // Messages about refused values repeat the values.
            let message = code == .valueRefused ? "" : error.message
            // A COMMIT has no values: its failure is not the fault of a single command.
            let isCommit = error.statement == PostgresCall.commit.statement.name
            self.init(
                isCommit && code == .valueRefused ? .unavailable : code,
                detail: "PostgreSQL \(error.sqlState): \(message) \(error.statement)",
                databaseCode: error.sqlState)
        default: self.init(.unavailable, detail: "\(error)")
        }
    }
}

extension StorageError.Code {
    /// By the classes of Appendix A of PostgreSQL's manual.
    init(sqlState: String) {
        self =
            switch sqlState {
            // lock_not_available, query_canceled: lock and statement time-outs.
            case "55P03", "57014": .busy
            // read_only_sql_transaction
            case "25006": .readOnly
            // disk_full
            case "53100": .full
            // data_corrupted, index_corrupted
            case "XX001", "XX002": .corrupted
            // not_null_violation: no caller's value is ever left out, so a row of our own is missing
            case "23502": .corrupted
            // program_limit_exceeded: a value too large for its index
            case "54000": .valueRefused
            // too_many_connections
            case "53300": .busy
            default:
                switch sqlState.prefix(2) {
                // data exception, integrity constraint violation
                case "22", "23": .valueRefused
                // transaction rollback
                case "40": .busy
                default: .unavailable
                }
            }
    }
}
