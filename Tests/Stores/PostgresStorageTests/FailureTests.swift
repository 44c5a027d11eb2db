import AppleAccounts
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// Behaviour when the server stops, refuses or fills up, and afterwards.
@Suite struct FailureTests {
    @Test(arguments: [PostgresCluster.StopMode.fast, .immediate])
    func `fails while the server is gone, and recovers when it is back`(
        mode: PostgresCluster.StopMode
    ) async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use { pool, database in
            try await pool.run { _ = try $0.run(.writeToProbe) }
            try await cluster.stop(mode)
            for _ in 0..<20 {
                await #expect(throws: StorageError(.unavailable, detail: "")) {
                    try await pool.run { _ = try $0.run(.writeToProbe) }
                }
                await #expect(throws: StorageError(.unavailable, detail: "")) {
                    try await database.accounts.checkHealth()
                }
            }
            try await cluster.start()
            #expect(await recovers { try await pool.run { _ = try $0.run(.writeToProbe) } })
            #expect(await recovers { try await database.accounts.checkHealth() })
            #expect(try await cluster.backends() <= 5)
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
        try await cluster.use { pool, _ in
            for _ in 0..<5 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await pool.run { _ = try $0.run(.one) } } }
                    try await group.waitForAll()
                }
                try await cluster.superuserQuery(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'siwa'")
            }
            #expect(try await cluster.backends() <= 5)
        }
        try await cluster.remove()
    }

    @Test func `fails what was running on a connection that was killed, and nothing else`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use { pool, _ in
            let running = Task {
                try await pool.run { session in
                    _ = try session.pipeline([.begin, .writeToProbe])
                    _ = try session.run(.sleep(seconds: 4))
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
            try await pool.run { _ = try $0.run(.writeToProbe) }
        }
        try await cluster.remove()
    }

    @Test func `fails writes on a server that takes none, says so, and recovers`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use { pool, database in
            try await pool.run { _ = try $0.run(.writeToProbe) }
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
                try await pool.run { _ = try $0.run(.writeToProbe) }
            }
            try await pool.run { _ = try $0.run(.one) }
            try await cluster.superuserQuery("BEGIN READ WRITE; COMMIT")
            try await cluster.superuserQuery("ALTER SYSTEM RESET default_transaction_read_only")
            try await cluster.superuserQuery("SELECT pg_reload_conf()")
            #expect(await recovers { try await pool.run { _ = try $0.run(.writeToProbe) } })
            #expect(await recovers { try await database.accounts.checkHealth() })
        }
        try await cluster.remove()
    }

    /// Filling a real disk needs privileges that tests may lack, so the server raises the error of a full
    /// disk.
    @Test func `fails writes when the disk is full, and recovers when there is room`() async throws {
        let cluster = try await PostgresCluster.shared()
        try await cluster.use { pool, database in
            let fill = """
                CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
                $$;
                CREATE TRIGGER full_disk BEFORE INSERT ON health_probe EXECUTE FUNCTION full_disk();
                """
            try await pool.run { try $0.execute(script: fill, name: "test") }
            await #expect(throws: StorageError(.full, detail: "")) {
                try await pool.run { _ = try $0.run(.writeToProbe) }
            }
            let empty = "DROP FUNCTION full_disk CASCADE"
            try await pool.run { try $0.execute(script: empty, name: "test") }
            try await pool.run { _ = try $0.run(.writeToProbe) }
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
}

/// Commits while their connections are killed all the time.
@Suite struct ChaosTests {

    @Test func `keeps every answered commit, once, while connections are killed`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        let url = try await cluster.makeDatabase()
        let database = try await PostgresDatabase.open(url: url, connections: 4, logger: .silent)
        let store = database.accounts
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<40 {
                        let commands = (0..<5).map {
                            AccountCommand.signIn(.sample(key: .sample("user-\(worker)-\(number)-\($0)")))
                        }
                        // The outcome of a commit whose connection was lost is unknown: it is done again.
                        while true {
                            do {
                                let result = try await store.commit(commands)
                                #expect(result.results.count == 5)
                                break
                            } catch let error as StorageError {
                                #expect(error.code == .unavailable || error.code == .busy)
                                try await Task.sleep(for: .milliseconds(5))
                            }
                        }
                    }
                }
            }
            let killer = Task {
                while !Task.isCancelled {
                    try await cluster.superuserQuery(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'siwa'")
                    try await Task.sleep(for: .milliseconds(30))
                }
            }
            try await group.waitForAll()
            killer.cancel()
            _ = await killer.result
        }
        let counts = PostgresCall(
            PostgresStatement(
                "test_counts",
                """
                SELECT count(*), count(DISTINCT sub), count(DISTINCT account_id),
                    (SELECT last_sequence FROM event_counter), (SELECT count(*) FROM event),
                    (SELECT max(sequence) FROM event)
                FROM subject
                """))
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        let found = try await pool.run { session in
            let rows = try session.run(counts)
            return (0..<6).map { rows.integer(0, Int($0)) }
        }
        #expect(found[0..<3].allSatisfy { $0 == 800 })
        // No number was lost, none came twice.
        #expect(found[3] == found[4] && found[4] == found[5])
        try await store.checkHealth()
        await pool.close()
        await database.close()
        try await cluster.remove()
    }
}

/// Texts of PostgreSQL's errors: values that they have, and values that they never have.
@Suite struct StorageErrorTests {
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
            ("FATAL:  could not write init file", .full),
            ("FATAL:  could not create file: No space left on device", .full),
            ("Connection refused", .unavailable),
            ("FATAL:  the database system is starting up", .unavailable),
        ] as [(String, StorageError.Code)])
    func `knows a full disk by what the server says to a new session`(
        message: String, expected: StorageError.Code
    ) {
        #expect(
            StorageError(PostgresError.refused("connection to server failed: \(message)\n")).code == expected)
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
