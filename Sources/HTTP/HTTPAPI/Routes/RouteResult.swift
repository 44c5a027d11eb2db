import AppleAccounts
import Commits
import HTTPEngine
import SignIn

/// The next step of a request that a route has read.
///
/// Most responses come from memory: the requests never leave their event loop, and need neither a task nor a
/// change of thread. A sign-in waits for the database only: the event loop gathers its command with others,
/// and needs no task.
enum RouteResult: Sendable {
    case response(HTTPResponse)
    case commit(Commit)
    /// Any other work. Runs in a task, and returns the next step.
    case work(@Sendable () async throws -> RouteResult)

    /// A command, and the function that makes the response from its outcome.
    struct Commit: Sendable {
        let command: AccountCommand
        /// Called on the connection's event loop when the command is durable or has failed.
        let response: @Sendable (Result<AccountOutcome, any Error>) throws -> HTTPResponse
    }

    /// Work that ends in a response.
    static func later(_ response: @escaping @Sendable () async throws -> HTTPResponse) -> RouteResult {
        .work { .response(try await response()) }
    }

    /// Commits what a use case has prepared.
    static func commit<Value>(
        _ pending: PendingCommit<Value>, response: @escaping @Sendable (Value) -> HTTPResponse
    ) -> RouteResult {
        .commit(Commit(command: pending.command) { [result = pending.result] in response(try result($0)) })
    }

    /// Continues at once with a result that is available, and in a task with a result that has to be waited
    /// for.
    init<Value>(_ step: Step<Value>, then next: @escaping @Sendable (Value) -> RouteResult) {
        switch step {
        case .now(let value): self = next(value)
        case .later(let work): self = .work { next(try await work()) }
        }
    }
}
