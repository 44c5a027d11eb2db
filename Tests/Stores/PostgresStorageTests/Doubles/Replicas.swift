import AppleAccounts
import Logging
import PostgresCluster
import PostgresStorage
import StorageConformance

/// Several pools on one new database, as several replicas of the service have them.
struct Replicas: Sendable {
    let url: String
    let databases: [PostgresDatabase]

    var stores: [PostgresAccountStore] { databases.map(\.accounts) }

    static func with<Value>(
        _ count: Int = 2, _ body: (Replicas) async throws -> Value
    ) async throws -> Value {
        let url = try await PostgresCluster.shared().makeDatabase()
        var databases: [PostgresDatabase] = []
        do {
            for _ in 0..<count {
                databases.append(
                    try await PostgresDatabase.open(
                        url: url, sealing: SampleSealing(), connections: 4, logger: Logger(label: "test")))
            }
            let value = try await body(Replicas(url: url, databases: databases))
            for database in databases { await database.close() }
            return value
        } catch {
            for database in databases { await database.close() }
            throw error
        }
    }

    /// Plays numbered rounds, of which as many run at once as there are workers.
    func play<Round: Sendable>(
        _ rounds: Int, workers: Int, _ round: @escaping @Sendable (Int) async throws -> Round
    ) async throws -> [Round] {
        try await withThrowingTaskGroup(of: [Round].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var done: [Round] = []
                    for number in stride(from: worker, to: rounds, by: workers) {
                        done.append(try await round(number))
                    }
                    return done
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
