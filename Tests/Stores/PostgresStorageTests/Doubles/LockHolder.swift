import AppleAccounts

@testable import PostgresStorage

/// A separate session that holds locks, as an operator with psql could, to force an order of the replicas'
/// actions.
struct LockHolder {
    private static let pid = PostgresStatement("holder_pid", "SELECT pg_backend_pid()::bigint")
    private static let blocked = PostgresStatement(
        "holder_blocked",
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND $1::bigint::integer = ANY (pg_blocking_pids(pid))
        """)
    private static let allBlocked = PostgresStatement(
        "holder_all_blocked",
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
        """)

    private static let names = PostgresStatement(
        "holder_names",
        """
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1936291681 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """)

    private let session: PostgresSession
    private let pid: Int64

    /// - Parameter lock: A query that takes the locks.
    init(_ url: String, _ lock: String) throws {
        session = PostgresSession(try PostgresURL(url).connect())
        pid = try session.run(PostgresCall(Self.pid)).integer(0, 0) ?? 0
        _ = try session.pipeline([.begin, PostgresCall(PostgresStatement("holder_lock", lock))])
    }

    /// Number of sessions that wait for these locks.
    var waiters: Int64 {
        get throws { try session.run(PostgresCall(Self.blocked, [.integer(pid)])).integer(0, 0) ?? 0 }
    }

    /// Number of sessions of the database that wait for any lock.
    var allWaiters: Int64 {
        get throws { try session.run(PostgresCall(Self.allBlocked)).integer(0, 0) ?? 0 }
    }

    /// Number of held locks of names without a row.
    var namesLocked: Int64 {
        get throws { try session.run(PostgresCall(Self.names)).integer(0, 0) ?? 0 }
    }

    func release() throws {
        _ = try session.run(.commit)
    }
}
