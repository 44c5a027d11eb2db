/// What a team transfer needs beside the commands.
public protocol TransferStore: Sendable {
    /// The accounts of a team that have a credential for an app, which is named by its primary client ID,
    /// behind an account ID and in the order of the account IDs.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]

    /// Remembers them, all or none, so that a sign-in which shows one of these transfer identifiers finds its
    /// account. One of the same team and identifier is replaced. Those of accounts that were erased here are
    /// left out.
    func importTransfers(_ transfers: [TransferRecord]) async throws

    /// Forgets those whose time was over at this moment, a bounded number at once. Returns how many.
    func purgeTransfers(expiredBefore moment: Moment) async throws -> Int
}
