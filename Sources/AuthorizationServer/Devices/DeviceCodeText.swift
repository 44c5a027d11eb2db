public import Cryptography
import Encodings

/// A device code (RFC 8628 §3.2): `siwa_dc_` and 256 random bits in base64url.
public struct DeviceCodeText: Sendable {
    private static let prefix = "siwa_dc_"
    private static let size = 32

    /// A secret for ten minutes.
    public let text: String

    /// - Parameter random: 32 bytes of a cryptographic generator.
    public init(random: [UInt8]) {
        precondition(random.count == Self.size, "a device code has 32 random bytes")
        text = Self.prefix + Base64URL.encode(random)
    }

    /// Returns `nil` for a text that cannot be a device code of this service, so that it causes no query.
    public init?(parsing text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count == Self.prefix.utf8.count + 43,
            let random = Base64URL.decode(String(text.dropFirst(Self.prefix.count))),
            random.count == Self.size
        else { return nil }
        self.text = text
    }

    /// The digest that is stored. After the consent it is also the digest of the authorization code.
    public var digest: SHA256Digest { SHA256Digest.hash(text) }
}

extension DeviceCodeText: CustomStringConvertible, CustomReflectable {
    public var description: String { "device code" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
