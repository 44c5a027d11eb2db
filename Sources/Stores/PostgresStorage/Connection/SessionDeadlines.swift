/// Longest waits of a session for a server, on the session's own clock.
struct SessionDeadlines: Sendable {
    /// Limit for all responses of one round trip. The server's own statement time-out is shorter, so this
    /// deadline passes only when the server does not respond at all.
    var response: Duration = .seconds(10)

    /// - Parameter statementTimeout: The server's statement time-out, in milliseconds; 0 when it has none.
    init(statementTimeout: Int64 = 5000) {
        guard statementTimeout > 0 else {
            response = .seconds(60)
            return
        }
        response = max(.seconds(10), .milliseconds(min(statementTimeout, 3_600_000)) * 2)
    }
}
