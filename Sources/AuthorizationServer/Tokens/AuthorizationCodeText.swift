public import Cryptography
import Encodings

/// An authorization code (RFC 6749 §4.1.2): `siwa_ac_` and 256 random bits in base64url.
///
/// The prefix lets scanners recognize a leaked code.
public struct AuthorizationCodeText: Sendable {
    private static let prefix = "siwa_ac_"
    private static let size = 32

    /// A secret for ten minutes.
    public let text: String

    /// - Parameter random: 32 bytes of a cryptographic generator.
    public init(random: [UInt8]) {
        precondition(random.count == Self.size, "a code has 32 random bytes")
        text = Self.prefix + Base64URL.encode(random)
    }

    /// Returns `nil` for a text that cannot be a code of this service, so that it causes no query.
    public init?(parsing text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count == Self.prefix.utf8.count + 43,
            let random = Base64URL.decode(String(text.dropFirst(Self.prefix.count))),
            random.count == Self.size
        else { return nil }
        self.text = text
    }

    /// The digest that is stored.
    public var digest: SHA256Digest { SHA256Digest.hash(text) }
}

extension AuthorizationCodeText: CustomStringConvertible, CustomReflectable {
    public var description: String { "authorization code" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
