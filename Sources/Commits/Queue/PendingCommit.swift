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

    init<Command: TypedCommand>(
        _ command: Command, result: @escaping @Sendable (Command.Output) throws -> Value
    ) {
        self.command = command.accountCommand
        self.result = { outcome in
            guard let output = Command.output(outcome) else {
                throw StorageError(.unavailable, detail: "the store returned the outcome of another command")
            }
            return try result(output)
        }
    }
}
