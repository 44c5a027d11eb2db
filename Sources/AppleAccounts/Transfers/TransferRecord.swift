/// What the team that transfers an app says about one of its accounts: the person who signs in to the
/// receiving team with this transfer identifier owns that account.
public struct TransferRecord: Sendable, Hashable {
    public let recipientTeam: TeamID
    /// The token's `transfer_sub`.
    public let transferSubject: AppleSubject
    public let accountID: AccountID
    /// As the giving team knew the person.
    public let from: SubjectKey?
    public let createdAt: Moment
    /// When Apple forgets the identifier: 60 days after the transfer was accepted.
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
