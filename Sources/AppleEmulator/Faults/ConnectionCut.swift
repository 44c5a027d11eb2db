/// Where an endpoint hangs up.
public enum ConnectionCut: String, Sendable, CaseIterable {
    /// Before any byte of the answer.
    case beforeAnswer = "before_answer"
    /// In the middle of the body, after a head that promised all of it.
    case midBody = "mid_body"
}
