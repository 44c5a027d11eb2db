import AppleIDClient

/// Decides what to do when one of many calls to Apple fails. Makes no call itself.
struct RetryPolicy: Equatable {
    enum Decision: Equatable {
        case retry(after: Duration)
        /// Gives this call up; other calls continue.
        case fail
        /// Stops the run: all calls would fail with this error.
        case stop
    }

    /// The number of attempts for one call.
    static let tries = 4
    /// Number of calls in a row without a response after which Apple counts as unreachable.
    static let patience = 10

    private var unanswered = 0

    mutating func succeeded() { unanswered = 0 }

    /// - Parameter attempt: The number of the attempt for this call, from 1.
    mutating func decide(on error: AppleCallError, attempt: Int) -> Decision {
        if error.isOfConfiguration { return .stop }
        if error.isFinal {
            unanswered = 0
            return .fail
        }
        guard attempt >= Self.tries else {
            let pause = Duration.seconds(1 << (attempt - 1))
            return .retry(after: min(max(pause, error.retryAfter ?? .zero), .seconds(60)))
        }
        unanswered += 1
        return unanswered >= Self.patience ? .stop : .fail
    }
}
