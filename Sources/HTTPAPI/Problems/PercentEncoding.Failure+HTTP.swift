extension PercentEncoding.Failure {
    /// - Parameter malformed: What to say when it is not U+0000.
    func problem(_ malformed: ProblemCode, subject: Problem.Subject? = nil) -> Problem {
        switch self {
        case .malformed: Problem(malformed, subject: subject)
        case .characterNotAllowed: Problem(.characterNotAllowed, subject: subject)
        }
    }
}
