import AppleAccounts

/// Detects a pooler between this process and the server that shares connections (PgBouncer's `pool_mode`).
///
/// Only a pooler that assigns each client its own connection can be used: statements are prepared, `LISTEN`
/// waits, and the settings that make writes durable belong to the session. In other modes the service works
/// at first, and fails when two sessions meet on one connection.
enum PoolerMode {
    static let unusable = StorageError(
        .migrationFailed,
        detail: "expected a connection of its own for each session, found a pooler that shares them, such as "
            + "PgBouncer with pool_mode = transaction or statement; set pool_mode = session, or connect to "
            + "PostgreSQL itself")

    private static let process = PostgresCall(
        PostgresStatement("find_pooler", "SELECT pg_backend_pid()::bigint"))

    /// Number of comparisons: another client may hold, at that moment, the connection that two of ours would
    /// share.
    private static let looks = 5

    /// Compares the server processes of two sessions that are open at once. Two sessions with connections of
    /// their own have different processes, whatever else the server does.
    ///
    /// - Throws: `unusable`; `PostgresError`.
    static func requireSessions(_ session: PostgresSession, _ url: PostgresURL) throws {
        // Without a pooler both numbers are the same.
        guard let backend = session.backend, session.announcedProcess != backend.process else { return }
        for _ in 0..<looks {
            let other = PostgresSession(try url.connect())
            do {
                let mine = try session.run(process).onlyValue(as: Int64.self)
                let others = try other.run(process).onlyValue(as: Int64.self)
                if mine == others { throw unusable }
            } catch let error as PostgresError where error.hasStaleStatements {
                throw unusable
            }
        }
    }
}
