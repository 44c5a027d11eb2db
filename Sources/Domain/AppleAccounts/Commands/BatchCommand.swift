/// A command that a store commits together with others:
/// `AccountCommand`, or the authorization server's `GrantCommand`.
public protocol BatchCommand: Sendable {
    /// Outcome of an executed command.
    associatedtype Outcome: Sendable
    /// Results of commands that were committed together.
    associatedtype Batch: CommittedBatch where Batch.Outcome == Outcome
}

extension AccountCommand: BatchCommand {
    public typealias Outcome = AccountOutcome
    public typealias Batch = CommitResult
}

/// The results of commands that were committed together, in command order.
public protocol CommittedBatch: Sendable {
    /// Result of one command, as stores return it.
    associatedtype Element: Sendable
    associatedtype Outcome: Sendable

    var results: [Element] { get }
    /// Sequence number of the batch's last account event; `nil` if the batch produced none.
    var lastEventSequence: Int64? { get }

    init(results: [Element], lastEventSequence: Int64?)

    /// Creates the result for a command that the database refused while storing other commands in the batch.
    static func failure(_ error: StorageError) -> Element

    /// Returns the result for the caller that submitted the command.
    static func outcome(_ result: Element) -> Result<Outcome, any Error>
}

extension CommittedBatch {
    /// Commits a batch in one transaction. If the database refuses a value in it (`valueRefused`), commits
    /// each command in its own transaction, because one command has a value that no row accepts, and the
    /// other commands should still succeed.
    ///
    /// A separately committed command fails alone, regardless of the cause: earlier commands are already
    /// durable, and later ones may still succeed. If the connection is lost, the command's outcome is
    /// unknown, just as for a batch.
    ///
    /// - Parameters:
    ///   - storageError: Maps a database error to the service's error.
    ///   - afterEach: Called after each single-command transaction, even if it failed.
    ///   - transaction: Commits some commands in one transaction. If it throws, no transaction stays open.
    /// - Throws: The error from the transaction with all commands, unless its code is `valueRefused`.
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

/// The result for a batch.
public struct CommitResult: Sendable, Equatable {
    /// Results, in command order.
    public let results: [CommandResult]
    /// Sequence number of the batch's last account event; `nil` if the batch produced none.
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

/// Result for one command in a batch.
public enum CommandResult: Sendable, Equatable {
    case done(AccountOutcome)
    /// Refused by the rules. Nothing was stored, except that the command's challenge is consumed.
    case refused(AccountRefusal)
    /// Refused by the database, which accepted the rest of the batch. Nothing from this command was stored.
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
