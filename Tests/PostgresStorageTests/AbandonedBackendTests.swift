import AppleAccounts
import PostgresCluster
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
