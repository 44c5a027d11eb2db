/// Where an endpoint hangs up.
public enum ConnectionCut: String, Sendable, CaseIterable {
    /// Before anything was done: the caller may ask again.
    case beforeWork = "before_work"
    /// Before any byte of the answer, after the work was done: the caller cannot know that it was.
    case beforeAnswer = "before_answer"
    /// In the middle of the body, after a head that promised all of it, and after the work was done.
    case midBody = "mid_body"
}
