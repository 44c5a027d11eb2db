import Synchronization

/// Makes the port that the server listens on available to tasks that wait for it.
final class BoundPort: Sendable {
    private struct State {
        var result: Result<Int, any Error>?
        var waiters: [CheckedContinuation<Int, any Error>] = []
    }

    private let state = Mutex(State())

    /// Only the first result counts.
    func set(_ result: Result<Int, any Error>) {
        let waiters = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    func value() async throws -> Int {
        try await withCheckedThrowingContinuation { waiter in
            let result = state.withLock { state in
                if state.result == nil { state.waiters.append(waiter) }
                return state.result
            }
            if let result { waiter.resume(with: result) }
        }
    }
}

/// The service could not listen on its address.
public struct ListenError: Error {
    public let host: String
    public let port: Int
    /// The error of the operating system.
    public let cause: any Error

    public init(host: String, port: Int, cause: any Error) {
        (self.host, self.port, self.cause) = (host, port, cause)
    }
}
