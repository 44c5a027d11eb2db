/// How one command of a batch ended.
public enum CommandResult: Sendable, Equatable {
    case done(AccountOutcome)
    /// By the rules. Nothing of the command was stored.
    case refused(AccountRefusal)
    /// By the database, which took the rest of the batch. Nothing of the command was stored.
    case failed(StorageError)
}
