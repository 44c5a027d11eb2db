public import AppleAccounts
import GRDB

extension SQLiteAccountStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await reader.read { try $0.search.page(search, after: position, limit: limit, at: moment) }
    }

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

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await reader.read { try $0.history().entries(of: id, limit: limit) }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await reader.read { try $0.search.nextChecks(of: id) }
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await reader.read { rows in
            let all = try clientIDs.sorted().flatMap {
                try rows.history().payloads(about: key.subject, for: $0, limit: limit)
            }
            return Array(all.sorted { $0.moment > $1.moment }.prefix(limit))
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM account_history WHERE (account_id, number) IN (
                        SELECT account_id, number FROM account_history WHERE recorded_at < :end
                        ORDER BY recorded_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}
