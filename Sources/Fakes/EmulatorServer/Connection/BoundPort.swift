import Synchronization

/// The server's port, for callers that must wait until the server listens.
package final class BoundPort: Sendable {
    private enum State {
        case pending([Int: CheckedContinuation<Int, any Error>])
        case bound(Int)
        case closed(any Error)
    }

    private let state = Mutex((State.pending([:]), nextWaiter: 0))

    package init() {}

    /// Waits until the server listens. Throws the listening error if it cannot, or `CancellationError`.
    package func value() async throws -> Int {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled: Result<Int, any Error>? = state.withLock { state in
                    switch state.0 {
                    case .bound(let port): return .success(port)
                    case .closed(let error): return .failure(error)
                    case .pending(var waiters):
                        // The task was cancelled before the continuation was stored, so the cancellation
                        // handler below did not find it.
                        if Task.isCancelled { return .failure(CancellationError()) }
                        waiters[waiter] = continuation
                        state.0 = .pending(waiters)
                        return nil
                    }
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Int, any Error>? in
                guard case .pending(var waiters) = state.0 else { return nil }
                let continuation = waiters.removeValue(forKey: waiter)
                state.0 = .pending(waiters)
                return continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    package func bind(_ port: Int) { settle(.bound(port), with: .success(port)) }

    /// Reports that the server has stopped. Later callers receive the error too.
    package func close(_ error: any Error) { settle(.closed(error), with: .failure(error)) }

    private func settle(_ newState: State, with result: Result<Int, any Error>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            defer { state.0 = newState }
            guard case .pending(let waiters) = state.0 else { return [] }
            return Array(waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
