import AppleAccounts
import PostgresCluster
import Testing

@testable import PostgresStorage

/// Work that needs more connections than the pool or the server has.
@Suite struct PoolLimitTests {
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
            try await pool.run { _ = try $0.run(.one) }
        }
        let cancelled = Task { try await pool.run { _ = try $0.run(.one) } }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await holder.value
        await pool.close()
        let patient = PostgresPool(url, connections: 2, patience: .seconds(60))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { try await patient.run { _ = try $0.run(.one) } } }
            try await group.waitForAll()
        }
        await patient.close()
    }

    @Test func `works with the connections that a full server leaves it`() async throws {
        let settings = ["max_connections": "5", "superuser_reserved_connections": "2"]
        let cluster = try await PostgresCluster.start(fsync: false, settings: settings)
        let pool = PostgresPool(
            try PostgresURL(try await cluster.makeDatabase()), connections: 8, patience: .seconds(60))
        try await pool.run { _ = try $0.run(.one) }
        let nap = PostgresCall(PostgresStatement("test_nap", "SELECT pg_sleep(0.02)"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await pool.run { _ = try $0.run(nap) } } }
            try await group.waitForAll()
        }
        #expect(try await cluster.backends() <= 3)
        await pool.close()
        try await cluster.remove()
    }

    @Test func `fails when there are too many connections, and recovers`() async throws {
        let settings = ["max_connections": "6", "superuser_reserved_connections": "2"]
        let cluster = try await PostgresCluster.start(fsync: false, settings: settings)
        let url = try await cluster.makeDatabase()
        let greedy = PostgresPool(try PostgresURL(url), connections: 4)
        let holders = await greedy.hold(4, for: 2)
        let pool = PostgresPool(try PostgresURL(url), connections: 4)
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            try await pool.run { _ = try $0.run(.one) }
        }
        for holder in holders { try await holder.value }
        await greedy.close()
        #expect(await recovers { try await pool.run { _ = try $0.run(.one) } })
        await pool.close()
        try await cluster.remove()
    }

    @Test func `tells everybody who waits for a connection that the server has gone`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        let url = try PostgresURL(try await cluster.makeDatabase())
        let pool = PostgresPool(url, connections: 2, patience: .seconds(20))
        let holders = await pool.hold(2, for: 4)
        let waiters = (0..<20).map { _ in Task { try await pool.run { _ = try $0.run(.one) } } }
        try await cluster.stop(.immediate)
        for call in holders + waiters {
            await #expect(throws: StorageError(.unavailable, detail: "")) { try await call.value }
        }
        await pool.close()
        try await cluster.start()
        try await cluster.remove()
    }
}
