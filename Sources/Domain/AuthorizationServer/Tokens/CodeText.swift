public import Cryptography
import Encodings

/// A kind of code: its prefix, and its name in messages.
public protocol CodeKind: Sendable {
    /// The prefix, which lets secret scanners recognize a leaked code.
    static var prefix: String { get }
    static var name: String { get }
}

/// A code that a client exchanges for tokens: a prefix followed by 256 random bits in base64url.
public struct CodeText<Kind: CodeKind>: Sendable {
    private static var size: Int { 32 }

    /// The text, which must stay secret for ten minutes.
    public let text: String

    /// - Parameter random: 32 bytes from a cryptographic random number generator.
    public init(random: [UInt8]) {
        precondition(random.count == Self.size, "a code has 32 random bytes")
        text = Kind.prefix + Base64URL.encode(random)
    }

    /// Returns `nil` if the text cannot be one of this service's codes, so that the database is not queried
    /// for it.
    public init?(parsing text: String) {
        guard text.hasPrefix(Kind.prefix), text.utf8.count == Kind.prefix.utf8.count + 43,
            let random = Base64URL.decode(String(text.dropFirst(Kind.prefix.count))),
            random.count == Self.size
        else { return nil }
        self.text = text
    }

    /// The digest that is stored instead of the text.
    public var digest: SHA256Digest { SHA256Digest.hash(text) }
}

extension CodeText: CustomStringConvertible, CustomReflectable {
    public var description: String { Kind.name }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An authorization code (RFC 6749 §4.1.2): `siwa_ac_` followed by 256 random bits in base64url.
public typealias AuthorizationCodeText = CodeText<AuthorizationCodeKind>

public enum AuthorizationCodeKind: CodeKind {
    public static let prefix = "siwa_ac_"
    public static let name = "authorization code"
}

/// A device code (RFC 8628 §3.2): `siwa_dc_` followed by 256 random bits in base64url. Once the user has
/// agreed, the authorization code has the same digest as the device code.
public typealias DeviceCodeText = CodeText<DeviceCodeKind>

public enum DeviceCodeKind: CodeKind {
    public static let prefix = "siwa_dc_"
    public static let name = "device code"
}
