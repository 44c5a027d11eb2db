/// A command that a store commits together with others: `AccountCommand`,
/// and `GrantCommand` of the authorization server.
public protocol BatchCommand: Sendable {
    /// Outcome of one executed command.
    associatedtype Outcome: Sendable
    /// Results of the commands that were committed together.
    associatedtype Batch: CommittedBatch where Batch.Outcome == Outcome
}

extension AccountCommand: BatchCommand {
    public typealias Outcome = AccountOutcome
    public typealias Batch = CommitResult
}

/// The results of commands that were committed together, in the order of the commands.
public protocol CommittedBatch: Sendable {
    /// Result of one command as stores return it.
    associatedtype Element: Sendable
    associatedtype Outcome: Sendable

    var results: [Element] { get }
    /// Sequence number of the last account event of the batch; `nil` when the batch made no event.
    var lastEventSequence: Int64? { get }

    init(results: [Element], lastEventSequence: Int64?)

    /// Creates the result of a command that the database refused while it stored other commands of the batch.
    static func failure(_ error: StorageError) -> Element

    /// Returns the result for the caller of a command.
    static func outcome(_ result: Element) -> Result<Outcome, any Error>
}

extension CommittedBatch {
    /// Commits a batch in one transaction. If the database refuses a value of the batch
    /// (`valueRefused`), it commits each command in a separate transaction: no row accepts a value of
    /// one command, and the other commands must not fail with it.
    ///
    /// A command that is committed separately fails alone, whatever the cause: the commands
    /// before it are already durable, and the commands after it may succeed. After a lost
    /// connection its outcome is unknown, as for a batch.
    ///
    /// - Parameters:
    ///   - storageError: Maps an error of the database to the error of the service.
    ///   - afterEach: Called after each transaction of one command, even after a failure.
    ///   - transaction: Commits some commands in one transaction. When it throws, no transaction stays open.
    /// - Throws: The error of the transaction of all commands, unless its code is `valueRefused`.
    @inlinable
    public static func committing<Command>(
        _ commands: [Command], storageError: (any Error) -> StorageError, afterEach: () -> Void = {},
        transaction: ([Command]) throws -> Self
    ) throws -> Self {
        do {
            return try transaction(commands)
        } catch let error where storageError(error).code == .valueRefused {
            var results: [Element] = []
            var lastEventSequence: Int64?
            for command in commands {
                do {
                    let batch = try transaction([command])
                    results += batch.results
                    lastEventSequence = batch.lastEventSequence ?? lastEventSequence
                } catch {
                    results.append(failure(storageError(error)))
                }
                afterEach()
            }
            return Self(results: results, lastEventSequence: lastEventSequence)
        }
    }
}

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
    /// The erasure as stored.
    case erased(ErasureRecord)
    case transferred(TransferReceipt)
    case keyRegistered(RegisteredKey)
    case proofUsed
    /// The account after it was disabled, enabled or signed out.
    case changed(Account)
}
