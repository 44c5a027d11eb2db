public import AppleAccounts
import Synchronization

extension ReferenceStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        state.withLock { state in
            let all = state.subjects.values.compactMap { record -> TransferableAccount? in
                guard record.key.team == team, let id = record.accountID, let createdAt = record.createdAt,
                    record.credentials.contains(where: { $0.clientID == clientID })
                else { return nil }
                return TransferableAccount(
                    accountID: id, subject: record.key.subject, createdAt: createdAt)
            }
            let rest = all.filter { account in
                after.map { $0.uniqueID < account.accountID.uniqueID } ?? true
            }
            return Array(rest.sorted { $0.accountID.uniqueID < $1.accountID.uniqueID }.prefix(limit))
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        state.withLock { state in
            for transfer in transfers
            where !state.erasures.contains(where: { $0.accountID == transfer.accountID }) {
                state.transfers.removeAll {
                    $0.recipientTeam == transfer.recipientTeam
                        && $0.transferSubject == transfer.transferSubject
                }
                state.transfers.append(transfer)
            }
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.transfers.count
            state.transfers.removeAll { $0.expiresAt < moment }
            return before - state.transfers.count
        }
    }
}
