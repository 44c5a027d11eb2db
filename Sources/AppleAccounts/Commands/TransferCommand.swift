/// A transferred account: Apple told the receiving team the new `sub` of a person whose app was transferred.
public struct TransferCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// As the giving team knew the person.
    public let from: SubjectKey?
    /// As the receiving team knows the person.
    public let to: SubjectKey
    /// The primary client ID of the app that was transferred.
    public let clientID: ClientID
    /// The relay address changes with the team. `nil` when Apple said none.
    public let email: EmailAddress?
    /// Of the account, for one that is not in this database.
    public let createdAt: Moment
    /// By our clock.
    public let receivedAt: Moment

    public init(
        accountID: AccountID, from: SubjectKey?, to: SubjectKey, clientID: ClientID, email: EmailAddress?,
        createdAt: Moment, receivedAt: Moment
    ) {
        self.accountID = accountID
        self.from = from
        self.to = to
        self.clientID = clientID
        self.email = email
        self.createdAt = createdAt
        self.receivedAt = receivedAt
    }
}

/// The result of a transfer.
public enum TransferReceipt: Sendable, Hashable {
    /// The account is now found as the receiving team knows the person.
    case moved
    /// The account was not in this database and has been made.
    case made
    /// It had been done before.
    case alreadyDone
}
