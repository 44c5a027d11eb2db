/// What the team that gives an app away told of one of its accounts: whoever shows this transfer identifier
/// in the receiving team is that account.
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
