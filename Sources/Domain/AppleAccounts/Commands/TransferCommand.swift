/// A transferred account: Apple told the receiving team the new `sub` of a user of the transferred app.
public struct TransferCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The user's key at the giving team.
    public let from: SubjectKey?
    /// The user's key at the receiving team.
    public let to: SubjectKey
    /// The primary client ID of the app that was transferred.
    public let clientID: ClientID
    /// The relay address changes with the team. `nil` when Apple sent none.
    public let email: EmailAddress?
    /// Creation time for an account that is not in this database.
    public let createdAt: Moment
    /// By our clock.
    public let receivedAt: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, from: SubjectKey?, to: SubjectKey, clientID: ClientID, email: EmailAddress?,
        createdAt: Moment, receivedAt: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.from = from
        self.to = to
        self.clientID = clientID
        self.email = email
        self.createdAt = createdAt
        self.receivedAt = receivedAt
        self.origin = origin
    }
}

/// The result of a transfer.
public enum TransferReceipt: Sendable, Hashable {
    /// The account is now keyed by the user's `sub` at the receiving team.
    case moved
    /// The account was not in this database and has been made.
    case made
    /// The transfer had been applied before.
    case alreadyDone
}
