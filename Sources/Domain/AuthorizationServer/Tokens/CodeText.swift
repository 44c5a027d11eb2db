public import Cryptography
import Encodings

/// The kind of a code: its prefix, and its name in messages.
public protocol CodeKind: Sendable {
    /// The prefix, by which scanners recognize a leaked code.
    static var prefix: String { get }
    static var name: String { get }
}

/// A code that a client exchanges for tokens: a prefix, and 256 random bits in base64url.
public struct CodeText<Kind: CodeKind>: Sendable {
    private static var size: Int { 32 }

    /// The text, which is secret for ten minutes.
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

    /// The digest for storage.
    public var digest: SHA256Digest { SHA256Digest.hash(text) }
}

extension CodeText: CustomStringConvertible, CustomReflectable {
    public var description: String { Kind.name }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An authorization code (RFC 6749 §4.1.2): `siwa_ac_` and 256 random bits in base64url.
public typealias AuthorizationCodeText = CodeText<AuthorizationCodeKind>

public enum AuthorizationCodeKind: CodeKind {
    public static let prefix = "siwa_ac_"
    public static let name = "authorization code"
}

/// A device code (RFC 8628 §3.2): `siwa_dc_` and 256 random bits in base64url. After the consent its digest is also
/// the digest of the authorization code.
public typealias DeviceCodeText = CodeText<DeviceCodeKind>

public enum DeviceCodeKind: CodeKind {
    public static let prefix = "siwa_dc_"
    public static let name = "device code"
}
