import AppleAccounts
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

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
