/// Storage of a team transfer, in addition to the commands.
public protocol TransferStore: Sendable {
    /// Returns the accounts of a team that have a credential for an app, named by its primary client ID,
    /// after an account ID and in the order of the account IDs.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]

    /// Stores the transfers, all or none, so that a sign-in with one of these transfer
    /// identifiers finds its account. Replaces a transfer of the same team and identifier. Omits
    /// transfers of accounts that were erased here.
    func importTransfers(_ transfers: [TransferRecord]) async throws

    /// Deletes a bounded number of transfers that had expired at this
    /// moment. Returns the number of deleted transfers.
    func purgeTransfers(expiredBefore moment: Moment) async throws -> Int
}

/// The giving team's statement about one of its accounts: the user who signs in to the receiving team with
/// this transfer identifier owns the account.
public struct TransferRecord: Sendable, Hashable {
    public let recipientTeam: TeamID
    /// The token's `transfer_sub`.
    public let transferSubject: AppleSubject
    public let accountID: AccountID
    /// The user's key at the giving team.
    public let from: SubjectKey?
    public let createdAt: Moment
    /// Expiration time of the identifier at Apple: 60 days after the transfer was accepted.
    public let expiresAt: Moment

    public init(
        recipientTeam: TeamID, transferSubject: AppleSubject, accountID: AccountID, from: SubjectKey?,
        createdAt: Moment, expiresAt: Moment
    ) {
        self.recipientTeam = recipientTeam
        self.transferSubject = transferSubject
        self.accountID = accountID
        self.from = from
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// An account of a team that gives an app away.
public struct TransferableAccount: Sendable, Hashable {
    public let accountID: AccountID
    public let subject: AppleSubject
    public let createdAt: Moment

    public init(accountID: AccountID, subject: AppleSubject, createdAt: Moment) {
        (self.accountID, self.subject, self.createdAt) = (accountID, subject, createdAt)
    }
}
