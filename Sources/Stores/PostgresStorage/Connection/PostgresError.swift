import AppleAccounts

/// A PostgreSQL or libpq error before it becomes a `StorageError`, so that store code can distinguish
/// SQLSTATEs.
struct PostgresError: Error, Sendable {
    /// SQLSTATE: five characters (Appendix A of PostgreSQL's manual). "08001" and "08006" also stand for
    /// libpq's own failures to open and to keep a connection.
    let sqlState: String
    /// PostgreSQL's primary message. It never includes the detail, because the detail contains values.
    let message: String
    /// The statement's name.
    let statement: String

    static let connectionRefused = "08001"
    static let connectionLost = "08006"
    static let diskFull = "53100"
    /// SQLSTATE of `too_many_connections`.
    static let noConnection = "53300"
    static let noAnswer = "no answer in time"

    /// `serialization_failure`, which PostgreSQL itself reports in stricter isolation levels.
    static let rowVanished = PostgresError(
        sqlState: "40001", message: "a row vanished while it was waited for", statement: "lock_subjects")
}

extension PostgresError {
    /// True if a server did not respond to a statement.
    var isSilence: Bool { sqlState == Self.connectionLost && message == Self.noAnswer }

    /// Returns this error as the error of a new session's first statements. Few servers accept a connection
    /// and then do not respond, but a pooler in session mode behaves in this way while all its connections
    /// are in use.
    func ofNewSession() -> PostgresError {
        // PgBouncer uses this message when its own wait limit is exceeded.
        guard isSilence || message.contains("query_wait_timeout") else { return self }
        return PostgresError(
            sqlState: Self.noConnection,
            message: "a new connection got no answer; a pooler such as PgBouncer has no free connection: "
                + "raise its pool_size above SIWA_DATABASE_CONNECTIONS + 2 for each replica, or the server hangs",
            statement: "connect")
    }

    /// True for a conflict with another transaction, including a conflict about the same new row. A retry
    /// from the beginning sees the other transaction's writes.
    var isWorthRepeating: Bool {
        switch sqlState {
        // serialization_failure, deadlock_detected, unique_violation
        case "40001", "40P01", "23505": true
        default: false
        }
    }

    /// unique_violation: a row with this key exists.
    var isAboutExistingRow: Bool { sqlState == "23505" }

    /// True for a standby, or for a server that is set to refuse writes.
    var isReadOnly: Bool { sqlState == "25006" }

    /// True if prepared statements are no longer valid, because the schema changed or a pooler gave the
    /// connection to another client.
    var hasStaleStatements: Bool {
        switch sqlState {
        // feature_not_supported ("cached plan must not change result type"), invalid and duplicate statement
        // name
        case "0A000", "26000", "42P05": true
        default: false
        }
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "PostgreSQL refused: \(sqlState)" }
    var debugDescription: String { "\(description) \(statement): \(message)" }
}

extension StorageError {
    /// Maps a PostgreSQL or libpq error to the service's error. The detail contains the error's message and
    /// the statement's name, but never values.
    init(_ error: any Error) {
        switch error {
        case let error as StorageError: self = error
        case let error as PostgresError:
            let code = Code(sqlState: error.sqlState)
            // PostgreSQL repeats refused values in its messages about them.
            let message = code == .valueRefused ? "" : error.message
            // A COMMIT has no values, so no single command causes its failure.
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
    /// Maps the error classes in Appendix A of PostgreSQL's manual.
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
            // `not_null_violation`: callers always set every value, so one of the service's own rows is
            // missing
            case "23502": .corrupted
            // `program_limit_exceeded`: the value is too large for its index
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
