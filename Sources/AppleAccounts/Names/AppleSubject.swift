/// The `sub` that Apple gave a person in one team.
///
/// Apple promises "a unique, stable string" and no more, so nothing about its form is assumed.
public struct AppleSubject: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character. The token verifier
    /// asks for the same, so that `nil` here means: no account and no credential can have this name.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}
