import AppleAccounts
import PostgresCluster
import StorageConformance
import Testing

@testable import PostgresStorage

/// Whether the store says that it can take commands when it can, and only then.
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
            _ = try await health.watch {
                CommitResult(results: [failed, failed], lastEventSequence: nil)
            }
            try await health.check(pool)
            #expect(try await pool.run { try $0.run(Self.probes).integer(0, 0) } == expected)
        }
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
