import AppleAccounts
import Logging
import PostgresCluster
import TestSupport

@testable import PostgresStorage

extension PostgresCluster {
    /// Runs `body` with a pool on a database of its own, whose schema exists.
    func use(
        connections: Int = 4, options: String = "",
        _ body: (PostgresPool, PostgresDatabase) async throws -> Void
    ) async throws {
        let url = try await makeDatabase() + options
        let database = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        let pool = PostgresPool(try PostgresURL(url), connections: connections)
        try await body(pool, database)
        await pool.close()
        await database.close()
    }

    /// Number of the service's connections at the server.
    func backends() async throws -> Int {
        let count = try await superuserQuery("SELECT count(*) FROM pg_stat_activity WHERE usename = 'siwa'")
        return Int(count) ?? -1
    }
}

extension PostgresPool {
    /// Keeps this many of the pool's connections busy, each for this many seconds. Returns when they are
    /// busy.
    func hold(_ count: Int, for seconds: Int64) async -> [Task<Void, any Error>] {
        let (isHeld, held) = AsyncStream<Void>.makeStream()
        let holders = (0..<count).map { _ in
            Task {
                try await run { session in
                    _ = try session.run(.one)
                    held.yield()
                    _ = try session.run(.sleep(seconds: seconds))
                }
            }
        }
        var holding = isHeld.makeAsyncIterator()
        for _ in 0..<count { await holding.next() }
        return holders
    }
}

extension PostgresCall {
    static let one = PostgresCall(PostgresStatement("test_one", "SELECT 1::bigint"))
    static let writeToProbe = PostgresCall(
        PostgresStatement(
            "test_write",
            """
            INSERT INTO health_probe AS p (id, count) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = p.count + 1
            """))

    static func sleep(seconds: Int64) -> PostgresCall {
        PostgresCall(
            PostgresStatement("test_sleep", "SELECT pg_sleep($1::bigint::float8)"), [.integer(seconds)])
    }
}

/// Tries until `body` succeeds, for as long as the service may take to recover.
func recovers(_ body: () async throws -> Void) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
        if (try? await body()) != nil { return true }
        try? await Task.sleep(for: .milliseconds(20))
    }
    return false
}

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
