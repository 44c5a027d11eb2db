public import AppleAccounts

/// What a use case has to commit before it can return its result: the command, and how its outcome becomes
/// the result.
///
/// Nothing is stored until it is submitted to `GroupCommit`. The event loops of the server submit many at
/// once, tasks submit one and wait.
public struct PendingCommit<Value: Sendable>: Sendable {
    public let command: AccountCommand
    /// Called once, when the command is durable. It also does what has to follow the commit, such as waking a
    /// worker.
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
