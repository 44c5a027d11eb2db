/// What a one-time secret of the web flow is good for. One is never taken for another.
public enum TicketPurpose: String, Sendable, Hashable, CaseIterable {
    /// The `state` that Apple brings back.
    case webState = "web_state"
    /// The way back to the browser that began.
    case webBrowser = "web_browser"
    /// The code that the backend turns into the result.
    case webResult = "web_result"
}
