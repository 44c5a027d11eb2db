/// Lists accounts to transfer, and imports and purges team transfers. Commands apply the transfers.
public protocol TransferStore: Sendable {
    /// Returns a team's accounts that have a credential for an app, in ID order, starting after an account
    /// ID. The app is named by its primary client ID.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]

    /// Stores the transfers, all or none, so that a sign-in with one of these transfer identifiers finds its
    /// account. Replaces an existing transfer for the same team and identifier, and omits transfers of
    /// accounts that this service has erased.
    func importTransfers(_ transfers: [TransferRecord]) async throws

    /// Deletes a limited number of transfers that have expired
    /// by this moment. Returns the number of deleted transfers.
    func purgeTransfers(expiredBefore moment: Moment) async throws -> Int
}

/// The transferring team's statement that one of its accounts belongs to the user who signs in to the
/// receiving team with this transfer identifier.
public struct TransferRecord: Sendable, Hashable {
    public let recipientTeam: TeamID
    /// The token's `transfer_sub`.
    public let transferSubject: AppleSubject
    public let accountID: AccountID
    /// The user's key in the transferring team.
    public let from: SubjectKey?
    public let createdAt: Moment
    /// Expiry time of the identifier at Apple: 60 days after the transfer was accepted.
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

/// An account in a team that is transferring an app to another team.
public struct TransferableAccount: Sendable, Hashable {
    public let accountID: AccountID
    public let subject: AppleSubject
    public let createdAt: Moment

    public init(accountID: AccountID, subject: AppleSubject, createdAt: Moment) {
        (self.accountID, self.subject, self.createdAt) = (accountID, subject, createdAt)
    }
}
