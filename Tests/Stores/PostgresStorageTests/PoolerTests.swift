import AppleAccounts
import Foundation
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

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
