/// An account of a team that gives an app away.
public struct TransferableAccount: Sendable, Hashable {
    public let accountID: AccountID
    public let subject: AppleSubject
    public let createdAt: Moment

    public init(accountID: AccountID, subject: AppleSubject, createdAt: Moment) {
        (self.accountID, self.subject, self.createdAt) = (accountID, subject, createdAt)
    }
}
