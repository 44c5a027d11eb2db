/// What PostgreSQL or libpq refused, before it becomes a `StorageError`, so that store code can tell one
/// SQLSTATE from another.
struct PostgresError: Error, Sendable {
    /// PostgreSQL's five characters (Appendix A of its manual). "08001" and "08006" are also libpq's own
    /// failures to connect and to keep a connection.
    let sqlState: String
    /// PostgreSQL's primary message. Never its detail, which has values.
    let message: String
    /// The name of the statement.
    let statement: String

    static let connectionRefused = "08001"
    static let connectionLost = "08006"
    static let diskFull = "53100"

    /// serialization_failure, as PostgreSQL itself says it of stricter transactions.
    static let rowVanished = PostgresError(
        sqlState: "40001", message: "a row vanished while it was waited for", statement: "lock_subjects")
}

extension PostgresError {
    /// Another transaction got in the way, or met the same new row. The same work, done again from its
    /// beginning, finds what the other has left.
    var isWorthRepeating: Bool {
        switch sqlState {
        // serialization_failure, deadlock_detected, unique_violation
        case "40001", "40P01", "23505": true
        default: false
        }
    }

    /// unique_violation: a row of that key was stored before.
    var isAboutExistingRow: Bool { sqlState == "23505" }

    /// A standby, or a server that is set to take no writes.
    var isReadOnly: Bool { sqlState == "25006" }

    /// The statements that were prepared do not fit any more: the schema changed, or a pooler gave the
    /// connection to another.
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
