public import AppleAccounts

extension PostgresAccountStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await pool.run {
            try TransferableAccounts.page(
                team: team, clientID: clientID, after: after, limit: limit, in: $0)
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        guard !transfers.isEmpty else { return }
        try await pool.run { session in
            try session.names.teams.ensure(Set(transfers.map(\.recipientTeam)), in: session)
            try TransferRows.insert(transfers, in: session)
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        try await pool.run { session in
            try TransferRows.purge(expiredBefore: moment, limit: Self.largestPurge, in: session)
        }
    }
}
