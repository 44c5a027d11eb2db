import AppleAccounts
import Dispatch
import PostgresCluster
import SQLTables
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStorage

/// Checks that the store is healthy exactly when it can accept commands.
@Suite struct StoreHealthTests {
    private static let probes = PostgresCall(
        PostgresStatement("test_probes", "SELECT count(*) FROM health_probe"))

    @Test(arguments: [true, false])
    func `leaves a session that began while the database took no writes`(writes: Bool) async throws {
        let cluster = try await PostgresCluster.shared()
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            func use() async throws {
                guard writes else { return try await store.checkHealth() }
                try await store.signIn(.sample())
            }
            try await cluster.superuserQuery(
                "ALTER DATABASE \(replicas.name) SET default_transaction_read_only = on")
            try await cluster.superuserQuery(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(replicas.name)'"
            )
            await #expect(throws: StorageError(.readOnly, detail: "")) { try await use() }
            try await cluster.superuserQuery(
                "ALTER DATABASE \(replicas.name) RESET default_transaction_read_only")
            try await use()
            try await store.checkHealth()
        }
    }

    @Test(arguments: [(.unavailable, 1), (.valueRefused, 0)] as [(StorageError.Code, Int64)])
    func `tries to write after a batch of which nothing was stored`(
        code: StorageError.Code, expected: Int64
    ) async throws {
        try await Replicas.with(1) { replicas in
            let (health, pool) = (StoreHealth(), replicas.stores[0].pool)
            let failed = CommandResult.failed(StorageError(code, detail: ""))
            _ = try await health.watch(.accounts, rehearsal: { _ in }) {
                CommitResult(results: [failed, failed], lastEventSequence: nil)
            }
            try await health.check(pool)
            #expect(try await pool.run { try $0.run(Self.probes).integer(0, 0) } == expected)
        }
    }

    @Test func `tells each failure of a read, a claim, a check and a write once`() async throws {
        let cluster = try await PostgresCluster.start()
        let failures = Mutex<[StorageError.Code]>([])
        let database = try await PostgresDatabase.open(
            url: try await cluster.makeDatabase(), connections: 2, logger: .silent,
            onFailure: { error in failures.withLock { $0.append(error.code) } })
        let store = database.accounts
        try await store.checkHealth()
        #expect(failures.withLock { $0 } == [])
        try await cluster.stop(.immediate)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.lastEventSequence() },
            { _ = try await store.backlog(at: 0) },
            { _ = try await store.claimCodes(limit: 1, at: 0, leaseUntil: 1) },
            { try await store.checkHealth() },
            { try await store.signIn(.sample()) },
        ]
        for (number, call) in calls.enumerated() {
            await #expect(throws: StorageError(.unavailable, detail: "")) { try await call() }
            #expect(failures.withLock { $0 } == Array(repeating: .unavailable, count: number + 1))
        }
        // The end of the process is no failure of the database.
        await database.close()
        await #expect(throws: StorageError.self) { try await calls[0]() }
        #expect(failures.withLock { $0.count } == calls.count)
        cluster.discard()
    }

    @Test func `tells of callers that got no connection in time`() async throws {
        let failures = Mutex<[StorageError.Code]>([])
        let url = try PostgresURL(try await PostgresCluster.shared().makeDatabase())
        let pool = PostgresPool(
            url, connections: 1, patience: .milliseconds(50),
            onFailure: { error in failures.withLock { $0.append(error.code) } })
        pool.reportFailures()
        let gate = DispatchSemaphore(value: 0)
        let holder = Task { try await pool.run { _ in gate.wait() } }
        #expect(await recovers { guard pool.usage.inUse == 1 else { throw CancellationError() } })
        await #expect(throws: StorageError(.busy, detail: "")) { try await pool.run { _ in } }
        #expect(failures.withLock { $0 } == [.busy])
        gate.signal()
        try await holder.value
        await pool.close()
    }

    /// The server raises the error of a full disk: the row of the probe fits, new rows do not.
    @Test func `is unhealthy on a full disk until what has failed fits`() async throws {
        let cluster = try await PostgresCluster.shared()
        let failures = Mutex<[StorageError]>([])
        let url = try await cluster.makeDatabase()
        let database = try await PostgresDatabase.open(
            url: url, connections: 2, logger: .silent,
            onFailure: { error in failures.withLock { $0.append(error) } })
        let store = database.accounts
        let known = try await store.signIn(.sample())
        try await store.pool.run { try $0.execute(script: Self.fill("event"), name: "test") }
        await #expect(throws: StorageError(.full, detail: "")) {
            try await store.signIn(.sample(key: .sample("new")))
        }
        #expect(failures.withLock { $0.map(\.code) } == [.full])
        #expect(failures.withLock { $0[0].detail.contains("53100") })
        for _ in 0..<3 {
            await #expect(throws: StorageError(.full, detail: "")) { try await store.checkHealth() }
            // What needs no new row still goes well, and proves nothing.
            #expect(try await store.signIn(.sample()).account.id == known.account.id)
            #expect(try await store.insertTicket(Self.ticket))
            _ = try await store.takeTicket(digest: Self.ticket.digest, purpose: Self.ticket.purpose, at: 0)
        }
        try await store.pool.run { try $0.execute(script: "DROP FUNCTION full_disk CASCADE", name: "test") }
        #expect(await recovers { try await store.checkHealth() })
        // Nothing of what was tried is kept.
        #expect(try await store.account(.sample("new")) == nil)
        await database.close()
    }

    @Test func `is unhealthy while what has failed is locked, whatever else is not`() async throws {
        let options = "?options=-c%20lock_timeout%3D100"
        let url = try await PostgresCluster.shared().makeDatabase()
        let database = try await PostgresDatabase.open(url: url + options, connections: 2, logger: .silent)
        let store = database.accounts
        try await store.checkHealth()
        let holder = try LockHolder(url, "LOCK TABLE subject IN SHARE MODE")
        await #expect(throws: StorageError(.busy, detail: "")) { try await store.signIn(.sample()) }
        #expect(try await store.insertTicket(Self.ticket))
        await #expect(throws: StorageError(.busy, detail: "")) { try await store.checkHealth() }
        try holder.release()
        #expect(await recovers { try await store.checkHealth() })
        try await store.signIn(.sample())
        await database.close()
    }

    @Test func `asks once at a time, however many want to know`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let holder = try LockHolder(replicas.url, "LOCK TABLE event_counter")
            let checks = (0..<50).map { _ in Task { try await store.checkHealth() } }
            #expect(await recovers { guard try holder.allWaiters > 0 else { throw CancellationError() } })
            #expect(try holder.allWaiters == 1)
            try holder.release()
            for check in checks { try await check.value }
        }
    }

    private static let ticket = Ticket(
        digest: .sample(), purpose: .webState, payload: [1], expiresAt: 1)

    private static func fill(_ table: String) -> String {
        """
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END
        $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON \(table) EXECUTE FUNCTION full_disk();
        """
    }

    @Test func `calls a database without event counter corrupted`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await store.pool.run { try $0.execute(script: "DELETE FROM event_counter", name: "test") }
            await #expect(throws: StorageError(.corrupted, detail: "")) { try await store.checkHealth() }
            await #expect(throws: StorageError(.corrupted, detail: "")) {
                try await store.signIn(.sample(key: .sample("person")))
            }
            #expect(try await store.account(.sample("person")) == nil)
        }
    }
}
