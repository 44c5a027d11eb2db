public import AppleAccounts
import SQLTables

extension PostgresAccountStore {
    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await pool.run {
            try EventReader(names: $0.names)
                .page(of: id, after: sequence, limit: limit, visibleTo: scope, in: $0)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await pool.run {
            try EventReader(names: $0.names).last(of: id, limit: limit, visibleTo: scope, in: $0)
        }
    }
}
