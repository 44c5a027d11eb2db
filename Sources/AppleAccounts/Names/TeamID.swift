/// An Apple developer team ("A1B2C3D4E5"). Each team gets its own `sub` for a person.
public struct TeamID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}
