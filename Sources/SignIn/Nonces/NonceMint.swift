public import AppleAccounts
import Cryptography
import Encodings

/// Makes nonces that can be verified without storage, so that a nonce takes no row until it is used.
///
/// A nonce is the prefix and, in base64url, 6 bytes of expiry (milliseconds since 1970, big-endian), 16
/// random bytes, and the HMAC-SHA-256 of all of this under the key that the replicas share. It is bound to
/// nothing else: a nonce is valid for one sign-in of any caller.
public struct NonceMint: Sendable {
    private static let expirySize = 6
    private static let randomSize = 16
    private static let codeSize = 32

    private let mac: HMACSHA256

    public init(key: NonceKey) {
        mac = HMACSHA256(key: key.bytes)
    }

    func mint(expiresAt: Moment) -> MintedNonce {
        let milliseconds = UInt64(expiresAt.milliseconds)
        var bytes = (0..<Self.expirySize).reversed().map {
            UInt8(truncatingIfNeeded: milliseconds >> (UInt64($0) * 8))
        }
        bytes += SecureRandom.bytes(count: Self.randomSize)
        bytes += mac.code(for: MintedNonce.prefix.utf8 + bytes)
        return MintedNonce(MintedNonce.prefix + Base64URL.encode(bytes), expiresAt: expiresAt)
    }

    /// Returns the expiry of a nonce of this service. `nil` for a text that was not made with this key.
    func expiry(of nonce: String) -> Moment? {
        guard nonce.utf8.starts(with: MintedNonce.prefix.utf8) else { return nil }
        let text = Array(nonce.utf8.dropFirst(MintedNonce.prefix.utf8.count))
        let size = Self.expirySize + Self.randomSize + Self.codeSize
        guard text.count == size / 3 * 4, let bytes = Base64URL.decode(text[...]) else { return nil }
        let content = bytes.dropLast(Self.codeSize)
        guard mac.isValid(Array(bytes.suffix(Self.codeSize)), for: MintedNonce.prefix.utf8 + content) else {
            return nil
        }
        let milliseconds = content.prefix(Self.expirySize).reduce(0 as Int64) { $0 << 8 | Int64($1) }
        return Moment(milliseconds: milliseconds)
    }
}

/// A nonce for one sign-in.
public struct MintedNonce: Sendable, Hashable {
    /// Distinguishes our nonces, which are used up, from nonces that a caller makes and checks itself.
    public static let prefix = "siwa-nonce-"

    /// The nonce, which the caller posts with the token.
    public let nonce: String
    /// The nonce's digest in lowercase hexadecimal, which native clients send to Apple.
    public let nonceSHA256: String
    public let expiresAt: Moment

    init(_ nonce: String, expiresAt: Moment) {
        self.nonce = nonce
        nonceSHA256 = Hexadecimal.encode(SHA256Digest.hash(nonce))
        self.expiresAt = expiresAt
    }
}
