/// Bounds a whole exchange. The client's own deadline ends with the response head, so a byte of the body now and then would
/// keep a request open for ever.
struct TotalTime: Sendable {
    let limit: Duration

    /// Returns what `body` returns, or throws `failure` when the time is over. What is not over then is cancelled.
    func bound<Value: Sendable>(
        failure: any Error, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw failure
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
