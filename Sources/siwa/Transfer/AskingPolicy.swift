import AppleIDClient

/// What to do when Apple does not answer one of many harmless questions. Decides only.
struct AskingPolicy: Equatable {
    enum Decision: Equatable {
        case retry(after: Duration)
        /// This one fails, the others go on.
        case fail
        /// It would be the same for all of them.
        case stop
    }

    /// Tries for one question.
    static let tries = 4
    /// So many questions in a row that failed for want of an answer: Apple is out of reach.
    static let patience = 10

    private var unanswered = 0

    mutating func succeeded() { unanswered = 0 }

    /// - Parameter attempt: Of this question, from 1 on.
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
