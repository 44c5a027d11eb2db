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
}
