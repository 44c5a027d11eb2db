import AppleAccounts
import PostgresCluster
import Synchronization
import Testing

@testable import PostgresStorage

/// Commits that wait for an unavailable standby, after this process has given up on them.
@Suite struct AbandonedBackendTests {
    @Test func `are ended on the server at once, without another call`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { pool, _ in
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE usename = 'siwa' AND wait_event = 'SyncRep'
                """
            try await pool.run { $0.deadlines.response = .milliseconds(300) }
            try await cluster.superuserQuery("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
            try await cluster.superuserQuery("SELECT pg_reload_conf()")
            #expect(
                await recovers {
                    // A server that has not read its configuration yet takes it.
                    do {
                        try await pool.run { _ = try $0.run(.writeToProbe) }
                        throw CancellationError()
                    } catch is StorageError {}
                })
            #expect(
                await recovers {
                    guard try await cluster.superuserQuery(waiting) == "0" else { throw CancellationError() }
                })
        }
        try await cluster.remove()
    }

    @Test func `the report names the standby that a commit waits for`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { _, _ in
            let reports = Mutex<[StorageError]>([])
            let pool = PostgresPool(
                try PostgresURL(try await cluster.makeDatabase()), connections: 2,
                onFailure: { error in reports.withLock { $0.append(error) } })
            pool.reportFailures()
            try await pool.run { session in
                _ = try session.run(
                    PostgresCall(PostgresStatement("make_table", "CREATE TABLE written (id integer)")))
            }
            try await cluster.setSynchronousStandbys("gone")
            let write = PostgresCall(PostgresStatement("write_row", "INSERT INTO written VALUES (1)"))
            #expect(
                await recovers {
                    do {
                        try await pool.run { session in
                            session.deadlines.response = .milliseconds(300)
                            _ = try session.run(write)
                        }
                        throw CancellationError()
                    } catch is StorageError {}
                })
            #expect(
                await recovers {
                    let found = reports.withLock { $0 }
                    guard !found.isEmpty, found.allSatisfy({ $0.detail.contains("'gone'") }) else {
                        throw CancellationError()
                    }
                })
            #expect(reports.withLock { $0.allSatisfy { $0.databaseCode == "08006" } })
            await pool.close()
            try await cluster.setSynchronousStandbys("")
        }
        try await cluster.remove()
    }

    @Test func `a process that has its number from another time is left alone`() async throws {
        let cluster = try await PostgresCluster.shared()
        try await cluster.use(connections: 2) { pool, _ in
            let backend = try #require(try await pool.run { $0.backend })
            let abandoned = AbandonedBackends()
            abandoned.add(Backend(process: backend.process, began: backend.began - 1))
            try await pool.run { session in
                abandoned.end(in: session)
                _ = try session.run(.one)
            }
        }
    }
}
