public import Cryptography
import Encodings

/// The kind of a code: its prefix, and its name in messages.
public protocol CodeKind: Sendable {
    /// Lets scanners recognize a leaked code.
    static var prefix: String { get }
    static var name: String { get }
}

/// A code that a client presents for tokens: a prefix, and 256 random bits in base64url.
public struct CodeText<Kind: CodeKind>: Sendable {
    private static var size: Int { 32 }

    /// A secret for ten minutes.
    public let text: String

    /// - Parameter random: 32 bytes of a cryptographic generator.
    public init(random: [UInt8]) {
        precondition(random.count == Self.size, "a code has 32 random bytes")
        text = Kind.prefix + Base64URL.encode(random)
    }

    /// Returns `nil` for a text that cannot be a code of this service, so that it causes no query.
    public init?(parsing text: String) {
        guard text.hasPrefix(Kind.prefix), text.utf8.count == Kind.prefix.utf8.count + 43,
            let random = Base64URL.decode(String(text.dropFirst(Kind.prefix.count))),
            random.count == Self.size
        else { return nil }
        self.text = text
    }

    /// The digest that is stored.
    public var digest: SHA256Digest { SHA256Digest.hash(text) }
}

extension CodeText: CustomStringConvertible, CustomReflectable {
    public var description: String { Kind.name }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
