/// An authorization code or a refresh token as Apple issued it, before it is sealed. It is never stored and
/// never logged.
public struct AppleTokenSecret: Sendable, Hashable {
    /// In bytes of UTF-8. Apple's codes and tokens are far shorter.
    public static let longest = 8192

    public let text: String

    /// Returns `nil` for a text that is empty, or too long to be Apple's.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }
}

extension AppleTokenSecret: CustomStringConvertible, CustomReflectable {
    /// Without the text: it must not reach a log.
    public var description: String { "secret of \(text.utf8.count) bytes" }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
