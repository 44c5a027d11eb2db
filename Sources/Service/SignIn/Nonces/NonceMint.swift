public import AppleAccounts
import Cryptography
import Encodings

/// Makes nonces. A nonce is bound to nothing: it is valid for one sign-in of any caller.
public struct NonceMint: Sendable {
    private let texts: ExpiringText

    public init(key: NonceKey) {
        texts = ExpiringText(prefix: MintedNonce.prefix, key: key)
    }

    func mint(expiresAt: Moment) -> MintedNonce {
        MintedNonce(texts.make(expiresAt: expiresAt), expiresAt: expiresAt)
    }

    /// Returns the expiry of a nonce of this service. `nil` for a text that was not made with this key.
    func expiry(of nonce: String) -> Moment? { texts.expiry(of: nonce) }
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
