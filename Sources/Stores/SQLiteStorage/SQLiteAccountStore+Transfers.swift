public import AppleAccounts
import GRDB

extension SQLiteAccountStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await reader.read {
            try $0.tokens().transfers.accounts(team: team, clientID: clientID, after: after, limit: limit)
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        try await writer.write { writer in
            for transfer in transfers { try writer.transfers.insert(transfer) }
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM transfer WHERE (team_id, transfer_sub) IN (
                        SELECT team_id, transfer_sub FROM transfer WHERE expires_at < :end
                        ORDER BY expires_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}
