public import AppleAccounts
public import AuthorizationServer

/// The next step towards the result of a use case: the result itself, a command to commit first, or work that
/// needs a task. Use cases, the request's event loop and the commit queue all use this type.
///
/// An event loop handles `now` immediately, and gathers the commands of many requests, so neither needs a
/// task. Nothing is stored until a command is submitted to its queue.
public enum Step<Value: Sendable>: Sendable {
    case now(Value)
    case accounts(Commit<AccountCommand>)
    case grants(Commit<GrantCommand>)
    /// Work that runs in a task and returns the next step.
    case work(@Sendable () async throws -> Step)

    /// A command with its queue, and the step that follows the commit.
    public struct Commit<Command: BatchCommand>: Sendable {
        public let queue: GroupCommit<Command>
        public let command: Command
        /// Called once, when the command is durable or has failed. It also performs the work after the
        /// commit, such as waking a worker.
        public let next: @Sendable (Result<Command.Outcome, any Error>) throws -> Step

        @inlinable
        init(
            _ command: Command, in queue: GroupCommit<Command>,
            next: @escaping @Sendable (Result<Command.Outcome, any Error>) throws -> Step
        ) {
            (self.command, self.queue, self.next) = (command, queue, next)
        }
    }

    /// Returns work that produces the value.
    public static func later(_ value: @escaping @Sendable () async throws -> Value) -> Step {
        .work { .now(try await value()) }
    }

    /// Starts a use case, and maps the errors of all its steps.
    public static func mappingErrors(
        _ transform: @escaping @Sendable (any Error) -> any Error, of begin: () throws -> Step
    ) throws -> Step {
        do { return try begin().mapError(transform) } catch { throw transform(error) }
    }

    /// Performs all steps and returns the value, for callers in a task. Throws the errors of the steps.
    public var value: Value {
        get async throws {
            switch self {
            case .now(let value): value
            case .accounts(let commit): try await commit.value
            case .grants(let commit): try await commit.value
            case .work(let work): try await work().value
            }
        }
    }
}

extension Step {
    /// Returns a step that maps this step's value with `transform`.
    @inlinable
    public consuming func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) rethrows
        -> Step<Other>
    {
        switch self {
        case .now(let value): .now(try transform(value))
        case .accounts(let commit): .accounts(commit.map(transform))
        case .grants(let commit): .grants(commit.map(transform))
        case .work(let work): .work { try await work().map(transform) }
        }
    }

    /// Returns a step that passes this step's value to `next`, and continues with the resulting step.
    @inlinable
    public consuming func then<Other>(
        _ next: @escaping @Sendable (Value) throws -> Step<Other>
    ) rethrows -> Step<Other> {
        switch self {
        case .now(let value): try next(value)
        case .accounts(let commit): .accounts(commit.then(next))
        case .grants(let commit): .grants(commit.then(next))
        case .work(let work): .work { try await work().then(next) }
        }
    }

    private func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Step {
        switch self {
        case .now: return self
        case .accounts(let commit): return .accounts(commit.mapError(transform))
        case .grants(let commit): return .grants(commit.mapError(transform))
        case .work(let work):
            return .work {
                do { return try await work().mapError(transform) } catch { throw transform(error) }
            }
        }
    }
}

extension Step.Commit {
    @inlinable
    func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Step<Other>.Commit<Command> {
        .init(command, in: queue) { try self.next($0).map(transform) }
    }

    @inlinable
    func then<Other>(_ next: @escaping @Sendable (Value) throws -> Step<Other>) -> Step<Other>.Commit<Command>
    {
        .init(command, in: queue) { try self.next($0).then(next) }
    }

    fileprivate func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Self {
        .init(command, in: queue) { outcome in
            try Step.mappingErrors(transform) { try next(outcome) }
        }
    }

    fileprivate var value: Value {
        get async throws {
            let outcome: Result<Command.Outcome, any Error>
            do {
                outcome = .success(try await queue.submit(command))
            } catch {
                outcome = .failure(error)
            }
            return try await next(outcome).value
        }
    }
}

/// A command that a step can commit.
public protocol StepCommand: BatchCommand {
    static func step<Value>(_ commit: Step<Value>.Commit<Self>) -> Step<Value>
}

extension AccountCommand: StepCommand {
    @inlinable
    public static func step<Value>(_ commit: Step<Value>.Commit<Self>) -> Step<Value> { .accounts(commit) }
}

extension GrantCommand: StepCommand {
    @inlinable
    public static func step<Value>(_ commit: Step<Value>.Commit<Self>) -> Step<Value> { .grants(commit) }
}

extension GroupCommit where Command: StepCommand {
    /// Returns the step that commits a command.
    ///
    /// - Parameter value: Makes the value from the outcome.
    @inlinable
    public func step<Typed: TypedCommand, Value>(
        _ command: Typed, _ value: @escaping @Sendable (Typed.Output) throws -> Value
    ) -> Step<Value> where Typed.Command == Command {
        step(command) { .now(try value(try $0.get())) }
    }

    /// Returns the step that commits a command.
    ///
    /// - Parameter next: Makes the next step from the outcome, or from an error that the use case can handle.
    @inlinable
    public func step<Typed: TypedCommand, Value>(
        _ command: Typed,
        then next: @escaping @Sendable (Result<Typed.Output, any Error>) throws -> Step<Value>
    ) -> Step<Value> where Typed.Command == Command {
        Command.step(
            Step<Value>.Commit(command.untyped, in: self) { outcome in
                try next(Result { try Typed.requireOutput(try outcome.get()) })
            })
    }
}
