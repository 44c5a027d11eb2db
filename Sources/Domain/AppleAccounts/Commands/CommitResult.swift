/// The result of a batch.
public struct CommitResult: Sendable, Equatable {
    /// Results of the commands, in the order of the commands.
    public let results: [CommandResult]
    /// Sequence number of the last account event of the batch; `nil` when the batch made no event.
    public let lastEventSequence: Int64?

    public init(results: [CommandResult], lastEventSequence: Int64?) {
        (self.results, self.lastEventSequence) = (results, lastEventSequence)
    }
}

extension CommitResult: CommittedBatch {
    public static func failure(_ error: StorageError) -> CommandResult { .failed(error) }

    public static func outcome(_ result: CommandResult) -> Result<AccountOutcome, any Error> {
        switch result {
        case .done(let outcome): .success(outcome)
        case .refused(let refusal): .failure(refusal)
        case .failed(let error): .failure(error)
        }
    }
}

/// Result of one command of a batch.
public enum CommandResult: Sendable, Equatable {
    case done(AccountOutcome)
    /// Refused by the rules. Nothing of the command was stored, except that its challenge is consumed.
    case refused(AccountRefusal)
    /// Refused by the database, which accepted the rest of the batch. Nothing of the command was stored.
    case failed(StorageError)
}

/// Outcome of a command.
public enum AccountOutcome: Sendable, Hashable {
    case signedIn(SignInOutcome)
    case notification(NotificationReceipt)
    case exchangeFinished(ExchangeReceipt)
    case refreshTokenRejected(RejectionReceipt)
    /// As it was stored.
    case erased(ErasureRecord)
    case transferred(TransferReceipt)
    case keyRegistered(RegisteredKey)
    case proofUsed
    /// The account after it was disabled, enabled or signed out.
    case changed(Account)
}
