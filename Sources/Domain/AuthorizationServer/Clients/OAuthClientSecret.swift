import Cryptography
import Encodings

/// A secret of a client as `siwa client new` prints it, once: `siwa_cs_` and 32 random bytes in base64url.
public struct OAuthClientSecret: Sendable, Confidential {
    public let text: String

    /// - Parameter randomBytes: 32 bytes of a cryptographic generator.
    public init(randomBytes: [UInt8]) {
        precondition(randomBytes.count == 32, "a client secret has 32 random bytes")
        text = "siwa_cs_" + Base64URL.encode(randomBytes)
    }

    /// The hash of the secret, for the configuration.
    public var hash: OAuthClientSecretHash { OAuthClientSecretHash(SHA256Digest.hash(text)) }
}

/// The SHA-256 of a client secret. The secret cannot be found from its hash, because a secret has 256 random
/// bits.
///
/// A slow hash would add no security, and would let anyone spend the time of the service.
public struct OAuthClientSecretHash: Sendable, Hashable {
    private let digest: SHA256Digest

    init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Returns `nil` unless the text has 64 hexadecimal digits, in either case.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text.lowercased()), let digest = SHA256Digest(bytes) else {
            return nil
        }
        self.digest = digest
    }

    /// The hash of the empty text, for a comparison when there is no client.
    static let ofNothing = OAuthClientSecretHash(SHA256Digest.hash(""))

    /// 64 hexadecimal digits, lowercase.
    public var hexadecimal: String { Hexadecimal.encode(digest) }

    /// Returns `true` if this is the hash of the secret. The duration does not depend on the position of a
    /// difference.
    public func matches(_ secret: String) -> Bool {
        ConstantTime.areEqual(digest, SHA256Digest.hash(secret))
    }
}
