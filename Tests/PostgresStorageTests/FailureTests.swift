import AppleAccounts
import Foundation
import Logging
import PostgresCluster
import TestSupport
import Testing

@testable import PostgresStorage

/// What happens when the server goes, refuses, hangs or fills up, and afterwards. Each has a server of its
/// own.
@Suite struct FailureTests {
    private static let sleep = PostgresStatement("test_sleep", "SELECT pg_sleep($1::bigint::float8)")
    private static let one = PostgresCall(PostgresStatement("test_one", "SELECT 1::bigint"))
    private static let write = PostgresCall(
        PostgresStatement(
            "test_write",
            """
            INSERT INTO health_probe AS p (id, count) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = p.count + 1
            """))

    private func use(
        _ cluster: PostgresCluster, connections: Int = 4, options: String = "",
        _ body: (PostgresPool, PostgresDatabase) async throws -> Void
    ) async throws {
        let url = try await cluster.makeDatabase() + options
        let database = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        let pool = PostgresPool(try PostgresURL(url), connections: connections)
        try await body(pool, database)
        await pool.close()
        await database.close()
    }

    /// Tries until it goes well, for as long as the service may take to recover.
    private func recovers(_ body: () async throws -> Void) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            if (try? await body()) != nil { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    /// Returns when so many of the pool's connections are busy, each for so many seconds.
    private func hold(
        _ count: Int, of pool: PostgresPool, for seconds: Int64
    ) async -> [Task<Void, any Error>] {
        let (isHeld, held) = AsyncStream<Void>.makeStream()
        let holders = (0..<count).map { _ in
            Task {
                try await pool.run { session in
                    _ = try session.run(Self.one)
                    held.yield()
                    _ = try session.run(PostgresCall(Self.sleep, [.integer(seconds)]))
                }
            }
        }
        var holding = isHeld.makeAsyncIterator()
        for _ in 0..<count { await holding.next() }
        return holders
    }

    private func backends(_ cluster: PostgresCluster) async throws -> Int {
        let count = try await cluster.superuserQuery(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = 'siwa'")
        return Int(count) ?? -1
    }

    @Test(arguments: [PostgresCluster.StopMode.fast, .immediate])
    func `fails while the server is gone, and recovers when it is back`(
        mode: PostgresCluster.StopMode
    ) async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster) { pool, database in
            try await pool.run { _ = try $0.run(Self.write) }
            try await cluster.stop(mode)
            for _ in 0..<20 {
                await #expect(throws: StorageError(.unavailable, detail: "")) {
                    try await pool.run { _ = try $0.run(Self.write) }
                }
                await #expect(throws: StorageError(.unavailable, detail: "")) {
                    try await database.accounts.checkHealth()
                }
            }
            try await cluster.start()
            #expect(await recovers { try await pool.run { _ = try $0.run(Self.write) } })
            #expect(await recovers { try await database.accounts.checkHealth() })
            #expect(try await backends(cluster) <= 5)
        }
        try await cluster.remove()
    }

    @Test func `waits at its start for a server that is still to come`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        let url = try await cluster.makeDatabase()
        try await cluster.stop()
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            _ = try await PostgresDatabase.open(url: url, patience: .zero, logger: .silent)
        }
        let opening = Task { try await PostgresDatabase.open(url: url, logger: .silent) }
        try await cluster.start()
        let database = try await opening.value
        try await database.accounts.checkHealth()
        await database.close()
        try await cluster.remove()
    }

    @Test func `shows no caller that idle connections were killed`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster) { pool, _ in
            for _ in 0..<5 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await pool.run { _ = try $0.run(Self.one) } } }
                    try await group.waitForAll()
                }
                try await cluster.superuserQuery(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'siwa'")
            }
            #expect(try await backends(cluster) <= 5)
        }
        try await cluster.remove()
    }

    @Test func `fails what was running on a connection that was killed, and nothing else`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster) { pool, _ in
            let running = Task {
                try await pool.run { session in
                    _ = try session.pipeline([.begin, Self.write])
                    _ = try session.run(PostgresCall(Self.sleep, [.integer(4)]))
                }
            }
            #expect(
                await recovers {
                    let killed = try await cluster.superuserQuery(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                        WHERE usename = 'siwa' AND state = 'active' AND query LIKE '%pg_sleep%'
                        """)
                    guard killed == "1" else { throw CancellationError() }
                })
            await #expect(throws: StorageError(.unavailable, detail: "")) { try await running.value }
            try await pool.run { _ = try $0.run(Self.write) }
        }
        try await cluster.remove()
    }

    @Test func `gives up on statements and locks that take too long`() async throws {
        let cluster = try await PostgresCluster.shared()
        let options = "?options=-c%20statement_timeout%3D1500%20-c%20lock_timeout%3D100"
        try await use(cluster, options: options) { pool, _ in
            await #expect(throws: StorageError(.busy, detail: "")) {
                try await pool.run { _ = try $0.run(PostgresCall(Self.sleep, [.integer(20)])) }
            }
            try await pool.run { _ = try $0.run(Self.write) }
            let (isHeld, held) = AsyncStream<Void>.makeStream()
            let holder = Task {
                try await pool.run { session in
                    _ = try session.pipeline([.begin, Self.write])
                    held.finish()
                    _ = try session.run(PostgresCall(PostgresStatement("test_hold", "SELECT pg_sleep(1.2)")))
                }
            }
            for await _ in isHeld {}
            await #expect(throws: StorageError(.busy, detail: "")) {
                try await pool.run { _ = try $0.run(Self.write) }
            }
            try await holder.value
            try await pool.run { _ = try $0.run(Self.write) }
        }
    }

    @Test func `waits for a free connection, and not for ever`() async throws {
        let url = try PostgresURL(try await PostgresCluster.shared().makeDatabase())
        let pool = PostgresPool(url, connections: 1, patience: .milliseconds(150))
        let (isHeld, held) = AsyncStream<Void>.makeStream()
        let holder = Task {
            try await pool.run { session in
                held.finish()
                _ = try session.run(PostgresCall(PostgresStatement("test_nap", "SELECT pg_sleep(0.6)")))
            }
        }
        for await _ in isHeld {}
        await #expect(throws: StorageError(.busy, detail: "")) {
            try await pool.run { _ = try $0.run(Self.one) }
        }
        let cancelled = Task { try await pool.run { _ = try $0.run(Self.one) } }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await holder.value
        await pool.close()
        let patient = PostgresPool(url, connections: 2, patience: .seconds(60))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { try await patient.run { _ = try $0.run(Self.one) } } }
            try await group.waitForAll()
        }
        await patient.close()
    }

    @Test func `works with the connections that a full server leaves it`() async throws {
        let settings = ["max_connections": "5", "superuser_reserved_connections": "2"]
        let cluster = try await PostgresCluster.start(fsync: false, settings: settings)
        let pool = PostgresPool(
            try PostgresURL(try await cluster.makeDatabase()), connections: 8, patience: .seconds(60))
        try await pool.run { _ = try $0.run(Self.one) }
        let nap = PostgresCall(PostgresStatement("test_nap", "SELECT pg_sleep(0.02)"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await pool.run { _ = try $0.run(nap) } } }
            try await group.waitForAll()
        }
        #expect(try await backends(cluster) <= 3)
        await pool.close()
        try await cluster.remove()
    }

    @Test func `fails when there are too many connections, and recovers`() async throws {
        let settings = ["max_connections": "6", "superuser_reserved_connections": "2"]
        let cluster = try await PostgresCluster.start(fsync: false, settings: settings)
        let url = try await cluster.makeDatabase()
        let greedy = PostgresPool(try PostgresURL(url), connections: 4)
        let holders = await hold(4, of: greedy, for: 2)
        let pool = PostgresPool(try PostgresURL(url), connections: 4)
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            try await pool.run { _ = try $0.run(Self.one) }
        }
        for holder in holders { try await holder.value }
        await greedy.close()
        #expect(await recovers { try await pool.run { _ = try $0.run(Self.one) } })
        await pool.close()
        try await cluster.remove()
    }

    @Test func `fails writes on a server that takes none, says so, and recovers`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster) { pool, database in
            try await pool.run { _ = try $0.run(Self.write) }
            try await cluster.superuserQuery("ALTER SYSTEM SET default_transaction_read_only = on")
            try await cluster.superuserQuery("SELECT pg_reload_conf()")
            #expect(
                await recovers {
                    do {
                        try await database.accounts.checkHealth()
                        throw CancellationError()
                    } catch let error as StorageError where error.code == .readOnly {}
                })
            await #expect(throws: StorageError(.readOnly, detail: "")) {
                try await pool.run { _ = try $0.run(Self.write) }
            }
            try await pool.run { _ = try $0.run(Self.one) }
            try await cluster.superuserQuery("BEGIN READ WRITE; COMMIT")
            try await cluster.superuserQuery("ALTER SYSTEM RESET default_transaction_read_only")
            try await cluster.superuserQuery("SELECT pg_reload_conf()")
            #expect(await recovers { try await pool.run { _ = try $0.run(Self.write) } })
            #expect(await recovers { try await database.accounts.checkHealth() })
        }
        try await cluster.remove()
    }

    @Test func `never waits for a server that accepts and does not answer`() async throws {
        let silent = try SilentServer()
        let url = try PostgresURL("postgres://siwa:secret@127.0.0.1:\(silent.port)/db?connect_timeout=2")
        let pool = PostgresPool(url, connections: 4, patience: .milliseconds(100))
        // One waits for the answer to its greeting. Those that come later do not wait for it.
        let calls = (0..<12).map { _ in Task { try await pool.run { _ = try $0.run(Self.one) } } }
        for call in calls { await #expect(throws: StorageError.self) { try await call.value } }
        #expect(silent.accepted <= 5)
        await pool.close()
    }

    @Test func `gives up on a server that goes silent, and recovers when it speaks again`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster, connections: 1) { pool, _ in
            try await pool.run { session in
                session.deadlines.answer = .milliseconds(300)
                _ = try session.run(Self.one)
            }
            // Stopped, as if its machine had lost its network: connections stay open and nothing comes back.
            try cluster.freeze()
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await pool.run { _ = try $0.run(Self.one) }
            }
            try cluster.thaw()
            #expect(await recovers { try await pool.run { _ = try $0.run(Self.write) } })
        }
        try await cluster.remove()
    }

    @Test func `asks a server that was silent nothing more on the same session`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await use(cluster, connections: 1) { pool, _ in
            try await pool.run { session in
                session.deadlines.answer = .milliseconds(300)
                _ = try session.run(Self.one)
            }
            try cluster.freeze()
            let trips = try await pool.run { session throws in
                #expect(throws: PostgresError.self) { _ = try session.pipeline([.begin, Self.one]) }
                let before = session.roundTrips
                #expect(throws: PostgresError.self) { try session.rollBack() }
                #expect(throws: PostgresError.self) { _ = try session.pipeline([]) }
                #expect(throws: PostgresError.self) { try session.execute(script: "SELECT", name: "test") }
                return session.roundTrips - before
            }
            #expect(trips == 0)
            try cluster.thaw()
            try await pool.run { _ = try $0.run(Self.one) }
        }
        try await cluster.remove()
    }

    @Test func `tells everybody who waits for a connection that the server has gone`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        let url = try PostgresURL(try await cluster.makeDatabase())
        let pool = PostgresPool(url, connections: 2, patience: .seconds(20))
        let holders = await hold(2, of: pool, for: 4)
        let waiters = (0..<20).map { _ in Task { try await pool.run { _ = try $0.run(Self.one) } } }
        try await cluster.stop(.immediate)
        for call in holders + waiters {
            await #expect(throws: StorageError(.unavailable, detail: "")) { try await call.value }
        }
        await pool.close()
        try await cluster.start()
        try await cluster.remove()
    }

    /// To fill a real disk takes rights that tests do not have everywhere: the server says what it says then.
    @Test func `fails writes when the disk is full, and recovers when there is room`() async throws {
        let cluster = try await PostgresCluster.shared()
        try await use(cluster) { pool, database in
            let fill = """
                CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
                $$;
                CREATE TRIGGER full_disk BEFORE INSERT ON health_probe EXECUTE FUNCTION full_disk();
                """
            try await pool.run { try $0.execute(script: fill, name: "test") }
            await #expect(throws: StorageError(.full, detail: "")) {
                try await pool.run { _ = try $0.run(Self.write) }
            }
            let empty = "DROP FUNCTION full_disk CASCADE"
            try await pool.run { try $0.execute(script: empty, name: "test") }
            try await pool.run { _ = try $0.run(Self.write) }
            try await database.accounts.checkHealth()
        }
    }

    @Test func `goes to the other host when the first takes no writes any more`() async throws {
        let first = try await PostgresCluster.start(fsync: false)
        let second = try await PostgresCluster.start(fsync: false)
        let url = try await first.makeDatabase()
        _ = try await second.makeDatabase()
        let both = url.replacing(":\(first.port)/", with: ":\(first.port),localhost:\(second.port)/")
        let pool = PostgresPool(try PostgresURL(both), connections: 1)
        let port = PostgresCall(
            PostgresStatement("test_port", "SELECT current_setting('port')::bigint"))
        let write = PostgresCall(PostgresStatement("test_temporary", "CREATE TABLE IF NOT EXISTS written ()"))
        #expect(try await pool.run { try $0.run(port).integer(0, 0) } == Int64(first.port))
        try await first.superuserQuery("ALTER SYSTEM SET default_transaction_read_only = on")
        try await first.superuserQuery("SELECT pg_reload_conf()")
        #expect(
            await recovers {
                _ = try? await pool.run { _ = try $0.run(write) }
                let now = try await pool.run { try $0.run(port).integer(0, 0) }
                guard now == Int64(second.port) else { throw CancellationError() }
            })
        await pool.close()
        try await first.remove()
        try await second.remove()
    }

    @Test func `never says the password, whatever is wrong`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let name = url.split(separator: "/").last.map(String.init) ?? ""
        let wrong = cluster.url(of: name, password: "not-the-horse")
        for url in [wrong, wrong + "?sslmode=require", wrong + "?sslrootcert=/nowhere&sslmode=verify-full"] {
            let error = await #expect(throws: StorageError.self) {
                _ = try await PostgresDatabase.open(url: url, patience: .zero, logger: .silent)
            }
            #expect(error?.code == .unavailable)
            #expect(error?.debugDescription.contains("horse") == false)
        }
    }

    @Test(
        arguments: [
            ("08006", .unavailable), ("57P01", .unavailable), ("57P03", .unavailable),
            ("28P01", .unavailable),
            ("53300", .busy), ("57014", .busy), ("55P03", .busy), ("40001", .busy), ("40P01", .busy),
            ("53100", .full), ("25006", .readOnly), ("XX001", .corrupted), ("XX002", .corrupted),
            ("23502", .corrupted), ("22021", .valueRefused), ("23514", .valueRefused),
            ("54000", .valueRefused),
            ("42P01", .unavailable), ("58030", .unavailable), ("XX000", .unavailable),
        ] as [(String, StorageError.Code)])
    func `says what a SQLSTATE means`(state: String, expected: StorageError.Code) {
        #expect(StorageError.Code(sqlState: state) == expected)
        // A commit has no values that could be refused.
        let atCommit = StorageError(PostgresError(sqlState: state, message: "", statement: "commit"))
        #expect(atCommit.code == (expected == .valueRefused ? .unavailable : expected))
    }
}
