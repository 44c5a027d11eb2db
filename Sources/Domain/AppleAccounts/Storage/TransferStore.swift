/// Storage of a team transfer, beside the commands.
public protocol TransferStore: Sendable {
    /// Returns the accounts of a team that have a credential for an app, named by its primary client ID,
    /// after an account ID and in the order of the account IDs.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]

    /// Stores the transfers, all or none, so that a sign-in with one of these transfer identifiers finds its
    /// account. A transfer of the same team and identifier is replaced. Transfers of accounts that were
    /// erased here are left out.
    func importTransfers(_ transfers: [TransferRecord]) async throws

    /// Deletes transfers that had expired at this moment, a bounded number per call. Returns the number of
    /// deleted transfers.
    func purgeTransfers(expiredBefore moment: Moment) async throws -> Int
}
