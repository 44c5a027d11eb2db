/// When an endpoint closes the connection.
public enum ConnectionCut: String, Sendable, CaseIterable {
    /// Before the endpoint does its work: the client may retry.
    case beforeWork = "before_work"
    /// After the work, before the first byte of the response: the client cannot know that the work was done.
    case beforeAnswer = "before_answer"
    /// After the work, in the middle of the body.
    case midBody = "mid_body"
}
