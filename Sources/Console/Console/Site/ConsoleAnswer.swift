public import Pages

/// The answer of a page.
public enum ConsoleAnswer: Sendable {
    /// The content of a page, for the frame of the console.
    ///
    /// - Parameter isLive: True if the page changes by itself: the script loads its `<main>` anew when the server says
    ///   so, and at most once a second.
    case page(_ title: String, isLive: Bool = false, HTML)
    /// A whole document for a frame of a page, with a policy of its own. Only pages of this console may frame it.
    case document(html: [UInt8], contentSecurityPolicy: String)
    /// After an action: a path below the console's root (303), with a sentence that the next page shows once.
    case redirect(to: String, notice: String? = nil)
    /// There is no such page or person, or this operator may not see it; the response is the same for both.
    case notFound
    /// The form was wrong: a page with the sentence, and the way back.
    case refused(String)
}
