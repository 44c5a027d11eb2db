public import AppleAccounts

extension SQLiteAccountStore {
    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await reader.read {
            try $0.events.page(of: id, after: sequence, limit: limit, visibleTo: scope)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await reader.read { try $0.events.last(of: id, limit: limit, visibleTo: scope) }
    }
}
