/// How long a session waits for a server, on its own clock.
struct SessionDeadlines: Sendable {
    /// For everything that one round trip brings. The server's own statement time-out is shorter, so that
    /// this deadline passes only when the server does not respond at all.
    var answer: Duration = .seconds(10)

    /// - Parameter statementTimeout: The server's, in milliseconds; 0 when it has none.
    init(statementTimeout: Int64 = 5000) {
        guard statementTimeout > 0 else {
            answer = .seconds(60)
            return
        }
        answer = max(.seconds(10), .milliseconds(min(statementTimeout, 3_600_000)) * 2)
    }
}
