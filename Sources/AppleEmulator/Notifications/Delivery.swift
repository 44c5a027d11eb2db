/// What became of a notification that was posted.
public struct Delivery: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// The receiver answered. The body is cut off after 16 KiB.
        case answered(status: Int, body: String)
        case failed(Failure)
    }

    public enum Failure: String, Sendable, CaseIterable {
        case connectionFailed = "connection_failed"
        case timedOut = "timed_out"
        /// The receiver hung up, or what it sent was not HTTP.
        case answerBroken = "answer_broken"
    }

    public let url: String
    public let outcome: Outcome

    /// Apple takes 200 for an answer, and nothing else.
    public var isTaken: Bool {
        if case .answered(200, _) = outcome { true } else { false }
    }
}
