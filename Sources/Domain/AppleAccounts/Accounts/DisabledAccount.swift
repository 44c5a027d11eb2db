/// An account that is stored as disabled, with its key at the time of the read.
public struct DisabledAccount: Sendable, Hashable {
    public let accountID: AccountID
    public let key: SubjectKey

    public init(accountID: AccountID, key: SubjectKey) { (self.accountID, self.key) = (accountID, key) }
}
