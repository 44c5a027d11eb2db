/// What a notification calls itself: Apple's `jti`, or a name made from the payload when there is none.
public struct InboxIdentifier: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}
