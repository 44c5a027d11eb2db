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

    /// What the configuration keeps of it.
    public var hash: OAuthClientSecretHash { OAuthClientSecretHash(SHA256Digest.hash(text)) }
}

/// The SHA-256 of a client secret. The secret cannot be found from it, because a secret has 256 random bits.
///
/// A slow hash would add nothing to that, and would let strangers spend the time of the service.
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

    /// The hash of no secret, to compare with where there is no client.
    static let ofNothing = OAuthClientSecretHash(SHA256Digest.hash(""))

    /// 64 hexadecimal digits, lowercase.
    public var hexadecimal: String { Hexadecimal.encode(digest) }

    /// Whether this is the hash of the secret. The duration does not depend on where they differ.
    public func matches(_ secret: String) -> Bool {
        ConstantTime.areEqual(digest, SHA256Digest.hash(secret))
    }
}
