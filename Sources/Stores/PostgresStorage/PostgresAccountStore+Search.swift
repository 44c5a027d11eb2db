public import AppleAccounts

extension PostgresAccountStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await pool.run {
            try AccountSearchRows(session: $0).page(search, after: position, limit: limit, at: moment)
        }
    }

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

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await pool.run { try HistoryRows.entries(of: id, limit: limit, in: $0) }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await pool.run { try HistoryRows.nextChecks(of: id, in: $0) }
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await pool.run {
            try HistoryRows.payloads(about: key.subject, for: clientIDs, limit: limit, in: $0)
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await pool.run { try HistoryRows.purge(before: moment, limit: Self.largestPurge, in: $0) }
    }
}
