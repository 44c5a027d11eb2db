import AppleAccounts
import Foundation
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
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

/// PgBouncer between the service and the server.
@Suite struct PoolerTests {
    @Test(arguments: ["transaction", "statement"])
    func `one that shares connections is refused by name, also at a second start`(mode: String) async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let pooler = try await Pooler.start(to: cluster, mode: mode)
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) {
                _ = try await PostgresDatabase.open(
                    url: pooler.url(for: url), patience: .zero, logger: .silent)
            }
            #expect(error?.code == .migrationFailed)
            #expect(error?.detail.contains("pool_mode = session") == true, "\(error?.detail ?? "")")
        }
        pooler.stop()
    }

    @Test func `one whose pool is too small is named`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let pooler = try await Pooler.start(to: cluster, mode: "session", size: 1)
        let only = PostgresPool(try PostgresURL(pooler.url(for: url)), connections: 1)
        try await only.run { _ = try $0.run(.one) }
        // The only connection of the pooler is in use.
        let other = PostgresPool(try PostgresURL(pooler.url(for: url)), connections: 1)
        let error = await #expect(throws: StorageError.self) { try await other.run { _ = try $0.run(.one) } }
        #expect(error?.code == .busy)
        #expect(error?.detail.contains("PgBouncer has no free connection") == true, "\(error?.detail ?? "")")
        await only.close()
        #expect(await recovers { try await other.run { _ = try $0.run(.one) } })
        await other.close()
        pooler.stop()
    }

    @Test func `one that gives each session its own connection is taken`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let pooler = try await Pooler.start(to: cluster, mode: "session")
        for _ in 0..<2 {
            let database = try await PostgresDatabase.open(
                url: pooler.url(for: url), connections: 3, logger: .silent)
            try await database.accounts.signIn(.sample())
            try await database.accounts.checkHealth()
            await database.close()
        }
        pooler.stop()
    }

    @Test func `the pooler of a test ends with it`() async throws {
        let pooler = try await Pooler.start(to: try await PostgresCluster.shared(), mode: "session")
        #expect(kill(pooler.process, 0) == 0)
        pooler.stop()
        try await eventually { kill(pooler.process, 0) != 0 }
    }
}

@Suite struct ConnectionGateTests {
    private let start = ContinuousClock.now

    private func isLetIn(_ gate: inout ConnectionGate<String>, after delay: Duration) -> Bool {
        switch gate.ask(at: start + delay) {
        case .connect: true
        case .fail: false
        }
    }

    @Test func `lets everybody try while nothing has failed`() {
        var gate = ConnectionGate<String>()
        #expect(isLetIn(&gate, after: .zero))
        #expect(isLetIn(&gate, after: .zero))
    }

    @Test func `lets one try after a pause, and tells the others of the failure`() {
        var gate = ConnectionGate<String>()
        gate.failed("gone", at: start, jitter: 1)
        #expect(!isLetIn(&gate, after: .milliseconds(49)))
        #expect(isLetIn(&gate, after: .milliseconds(50)))
        #expect(!isLetIn(&gate, after: .milliseconds(51)))
        guard case .fail("gone") = gate.ask(at: start + .seconds(60)) else {
            Issue.record("let in beside another")
            return
        }
        gate.succeeded()
        #expect(isLetIn(&gate, after: .milliseconds(60)))
    }

    @Test func `pauses for longer and longer, and never for long`() {
        var gate = ConnectionGate<String>()
        for _ in 0..<100 { gate.failed("gone", at: start, jitter: 1) }
        #expect(!isLetIn(&gate, after: .milliseconds(999)))
        #expect(isLetIn(&gate, after: .seconds(1)))
        gate.failed("gone", at: start, jitter: 0)
        #expect(!isLetIn(&gate, after: .milliseconds(499)))
        #expect(isLetIn(&gate, after: .milliseconds(500)))
    }
}
