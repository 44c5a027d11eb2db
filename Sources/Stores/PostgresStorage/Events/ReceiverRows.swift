public import AppleAccounts
import SQLTables

extension PostgresAccountStore: DeliveryStore {
    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        try await pool.run {
            try EventReader(names: $0.names).events(numbered: sequences, in: $0)
        }
    }
}
