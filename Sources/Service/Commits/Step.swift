public import AppleAccounts

/// The next step towards the value of a use case: the value, a command to commit before there is a value, or work for a
/// task. The use case, the event loop of the request and the queue pass it on in this one form.
///
/// An event loop handles `now` on the spot, and gathers the command of `commit` with those of other requests: neither
/// needs a task. Nothing is stored until the command is submitted to `GroupCommit`.
public enum Step<Value: Sendable>: Sendable {
    case now(Value)
    case commit(Commit)
    /// Runs in a task, and returns the next step.
    case work(@Sendable () async throws -> Step<Value>)

    public struct Commit: Sendable {
        public let command: AccountCommand
        /// Called once, when the command is durable or has failed. The function also does the work that has to follow
        /// the commit, such as waking a worker.
        public let result: @Sendable (Result<AccountOutcome, any Error>) throws -> Value

        @usableFromInline
        init(
            _ command: AccountCommand,
            result: @escaping @Sendable (Result<AccountOutcome, any Error>) throws -> Value
        ) {
            (self.command, self.result) = (command, result)
        }
    }

    /// Work that ends in the value.
    public static func later(_ value: @escaping @Sendable () async throws -> Value) -> Step {
        .work { .now(try await value()) }
    }

    /// - Parameter value: Makes the value from the outcome.
    @inlinable
    public static func commit<Typed: TypedCommand>(
        _ command: Typed, _ value: @escaping @Sendable (Typed.Output) throws -> Value
    ) -> Step where Typed.Command == AccountCommand {
        .commit(Commit(command.untyped) { try value(try Typed.requireOutput(try $0.get())) })
    }

    /// - Parameter value: Makes the value from the outcome, or from an error that need not be the end.
    @inlinable
    public static func commit<Typed: TypedCommand>(
        _ command: Typed,
        finishing value: @escaping @Sendable (Result<Typed.Output, any Error>) throws -> Value
    ) -> Step where Typed.Command == AccountCommand {
        .commit(
            Commit(command.untyped) { outcome in
                try value(Result { try Typed.requireOutput(try outcome.get()) })
            })
    }
}

extension Step {
    /// Returns the step with another value, made when this value is there.
    @inlinable
    public func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) rethrows -> Step<Other> {
        switch self {
        case .now(let value): .now(try transform(value))
        case .commit(let commit): .commit(.init(commit.command) { try transform(try commit.result($0)) })
        case .work(let work): .work { try await work().map(transform) }
        }
    }

    /// Returns the same step with an error mapped, whenever it comes.
    public func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Step {
        switch self {
        case .now: return self
        case .commit(let commit):
            return .commit(
                .init(commit.command) { outcome in
                    do { return try commit.result(outcome) } catch { throw transform(error) }
                })
        case .work(let work):
            return .work {
                do { return try await work().mapError(transform) } catch { throw transform(error) }
            }
        }
    }

    /// Returns the step that follows with the value. A step that follows a command must be `now`.
    ///
    /// - Throws: `StepAfterCommit`, from the commit.
    public func then<Other>(_ next: @escaping @Sendable (Value) throws -> Step<Other>) throws -> Step<Other> {
        switch self {
        case .now(let value): return try next(value)
        case .commit(let commit):
            return .commit(
                .init(commit.command) { outcome in
                    guard case .now(let value) = try next(try commit.result(outcome)) else {
                        throw StepAfterCommit()
                    }
                    return value
                })
        case .work(let work): return .work { try await work().then(next) }
        }
    }
}

/// A mistake of this service: a use case wanted to wait once more after its command.
public struct StepAfterCommit: Error, Sendable {
    public init() {}
}
