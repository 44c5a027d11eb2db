/// Limits the time of a request and its whole response. The client's own deadline ends with the response
/// head, so a body that arrives byte by byte would keep a request open forever.
struct TotalTime: Sendable {
    let limit: Duration

    /// Returns what `body` returns, or cancels it and throws `failure` after the time limit.
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
