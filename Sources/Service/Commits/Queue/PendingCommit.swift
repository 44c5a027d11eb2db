public import AppleAccounts

/// The command that a use case has to commit before it can return, and the function that makes its result
/// from the outcome.
///
/// Nothing is stored until the value is submitted to `GroupCommit`. The event loops of the server submit many
/// at once; tasks submit one and wait.
public struct PendingCommit<Value: Sendable>: Sendable {
    public let command: AccountCommand
    /// Called once, when the command is durable or has failed. The function also does the work that has to
    /// follow the commit, such as waking a worker.
    public let result: @Sendable (Result<AccountOutcome, any Error>) throws -> Value

    /// - Parameter result: Makes the value from the outcome, or from an error that need not be the end.
    @inlinable
    public init<Typed: TypedCommand>(
        _ command: Typed,
        finishing result: @escaping @Sendable (Result<Typed.Output, any Error>) throws -> Value
    ) where Typed.Command == AccountCommand {
        self.command = command.untyped
        self.result = { outcome in
            try result(Result { try Typed.requireOutput(try outcome.get()) })
        }
    }

    @inlinable
    init(
        command: AccountCommand,
        result: @escaping @Sendable (Result<AccountOutcome, any Error>) throws -> Value
    ) {
        (self.command, self.result) = (command, result)
    }

    /// Returns the same command with a function that goes on from this result.
    @inlinable
    public func finishing<Other: Sendable>(
        _ next: @escaping @Sendable (Result<Value, any Error>) throws -> Other
    ) -> PendingCommit<Other> {
        PendingCommit<Other>(command: command) { [result] outcome in
            try next(Result { try result(outcome) })
        }
    }

    @inlinable
    public init<Typed: TypedCommand>(
        _ command: Typed, result: @escaping @Sendable (Typed.Output) throws -> Value
    ) where Typed.Command == AccountCommand {
        self.command = command.untyped
        self.result = { try result(try Typed.requireOutput(try $0.get())) }
    }
}
