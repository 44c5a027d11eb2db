/// The result of one attempt.
enum AttemptResult: Sendable {
    case delivered
    /// The receiver does not get the event in its form, and was not asked.
    case passedOver
    case failed
    /// The receiver refused this event, and may take others.
    case refused

    /// Indicates that the receiver needs the event no more.
    var isDone: Bool {
        switch self {
        case .delivered, .passedOver: true
        case .failed, .refused: false
        }
    }
}
