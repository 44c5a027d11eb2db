/// The result of one attempt.
enum AttemptResult: Sendable {
    /// The receiver took the event, or does not get it in this form.
    case delivered
    case failed
    /// The receiver refused this event, and may take others.
    case refused
}
