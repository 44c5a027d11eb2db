/// The result of a batch.
public struct CommitResult: Sendable, Equatable {
    /// One for each command, in their order.
    public let results: [CommandResult]
    /// The sequence number of the last account event of the batch; `nil` when it made none.
    public let lastEventSequence: Int64?

    public init(results: [CommandResult], lastEventSequence: Int64?) {
        (self.results, self.lastEventSequence) = (results, lastEventSequence)
    }
}

/// How one command of a batch ended.
public enum CommandResult: Sendable, Equatable {
    case done(AccountOutcome)
    /// By the rules. Nothing of the command was stored.
    case refused(AccountRefusal)
    /// By the database, which took the rest of the batch. Nothing of the command was stored.
    case failed(StorageError)
}

/// What a command did.
public enum AccountOutcome: Sendable, Hashable {
    case signedIn(SignInOutcome)
    case notification(NotificationReceipt)
    case exchangeFinished(ExchangeReceipt)
    case refreshTokenRejected(RejectionReceipt)
    /// As it was stored.
    case erased(ErasureRecord)
    case transferred(TransferReceipt)
}
