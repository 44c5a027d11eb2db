public import AppleAccounts

/// The command that a use case has to commit before it can return, and the function that makes its result
/// from the outcome.
///
/// Nothing is stored until the value is submitted to `GroupCommit`. The event loops of the server submit many
/// at once; tasks submit one and wait.
public struct PendingCommit<Value: Sendable>: Sendable {
    public let command: AccountCommand
    /// Called once, when the command is durable. The function also does the work that has to follow the
    /// commit, such as waking a worker.
    public let result: @Sendable (AccountOutcome) throws -> Value

    @inlinable
    public init<Typed: TypedCommand>(
        _ command: Typed, result: @escaping @Sendable (Typed.Output) throws -> Value
    ) where Typed.Command == AccountCommand {
        self.command = command.untyped
        self.result = { try result(try Typed.requireOutput($0)) }
    }
}
