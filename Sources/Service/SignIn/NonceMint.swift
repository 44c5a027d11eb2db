public import AppleAccounts
import Cryptography
import Encodings

/// Makes nonces. A nonce is valid for one sign-in by any caller, and has no other binding.
public struct NonceMint: Sendable {
    private let texts: ExpiringText

    public init(key: NonceKey) {
        texts = ExpiringText(prefix: MintedNonce.prefix, key: key)
    }

    func mint(expiresAt: Moment) -> MintedNonce {
        MintedNonce(texts.make(expiresAt: expiresAt), expiresAt: expiresAt)
    }

    /// Returns a nonce's expiry; `nil` for a string that was not made with this key.
    func expiry(of nonce: String) -> Moment? { texts.expiry(of: nonce) }
}

/// A nonce that this service made for one sign-in.
public struct MintedNonce: Sendable, Hashable {
    /// The prefix that distinguishes our nonces, which we consume, from nonces that callers make and check
    /// themselves.
    public static let prefix = "siwa-nonce-"

    /// The nonce. The caller posts it with the identity token.
    public let nonce: String
    /// The nonce's SHA-256 digest in lowercase hexadecimal. Native clients send it to Apple.
    public let nonceSHA256: String
    public let expiresAt: Moment

    init(_ nonce: String, expiresAt: Moment) {
        self.nonce = nonce
        nonceSHA256 = Hexadecimal.encode(SHA256Digest.hash(nonce))
        self.expiresAt = expiresAt
    }
}

extension SignInNonce {
    /// Classifies the posted nonce or, without a posted nonce, the nonce in the token. Returns `nil` for a
    /// string that is not our nonce.
    ///
    /// The digest of our nonce has the same form as the digest of a caller's nonce, so a token with a digest
    /// is bound to our nonce only if the caller posts our nonce or the nonce was used before.
    /// - Parameter keptUntil: Time when the token has expired by every replica's clock.
    init?(posted: String?, claim: String?, mint: NonceMint, keptUntil: Moment) {
        let isPosted = posted.map { Self.hasOurForm($0) } ?? false
        guard let text = isPosted ? posted : claim else { return nil }
        guard Self.hasOurForm(text) else {
            guard let digest = Self.digest(inClaim: text) else { return nil }
            self = .carried(digest)
            return
        }
        guard let digest = NonceDigest(SHA256Digest.hash(text).bytes) else { return nil }
        if let expiresAt = mint.expiry(of: text) {
            self = .minted(digest, expiresAt: expiresAt, keptUntil: keptUntil)
        } else {
            self = isPosted ? .unproven(digest) : .carried(digest)
        }
    }

    private static func hasOurForm(_ text: String) -> Bool {
        text.utf8.starts(with: MintedNonce.prefix.utf8)
    }

    /// Returns the digest in a claim; `nil` if it contains none. Accepts all encodings that clients use.
    private static func digest(inClaim claim: String) -> NonceDigest? {
        switch claim.utf8.count {
        case 64: return Hexadecimal.decode(claim).flatMap { NonceDigest($0) }
        case 43: return Base64URL.decode(claim).flatMap { NonceDigest($0) }
        case 44 where claim.hasSuffix("="):
            let alphabet = claim.dropLast().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            return Base64URL.decode(String(alphabet)).flatMap { NonceDigest($0) }
        default: return nil
        }
    }
}

/// Makes strings that expire and can be verified without storage. A string has no row until it is used.
///
/// A string consists of the prefix and, in base64url, 6 bytes of expiry (milliseconds since 1970,
/// big-endian), 16 random bytes, and an HMAC-SHA-256 over these parts and the bound value. All replicas share
/// the HMAC key.
struct ExpiringText: Sendable {
    private static let expirySize = 6
    private static let randomSize = 16
    private static let codeSize = 32

    private let prefix: [UInt8]
    private let mac: HMACSHA256

    /// - Parameter prefix: A separate prefix for each use, so that a string is never valid for another use.
    init(prefix: String, key: NonceKey) {
        self.prefix = Array(prefix.utf8)
        mac = HMACSHA256(key: key.bytes)
    }

    /// - Parameter context: The value that the string is bound to. The string does not contain this value.
    func make(expiresAt: Moment, boundTo context: [UInt8] = []) -> String {
        let milliseconds = UInt64(expiresAt.milliseconds)
        var bytes = (0..<Self.expirySize).reversed().map {
            UInt8(truncatingIfNeeded: milliseconds >> (UInt64($0) * 8))
        }
        bytes += SecureRandom.bytes(count: Self.randomSize)
        bytes += mac.code(for: prefix + bytes + context)
        return String(decoding: prefix, as: UTF8.self) + Base64URL.encode(bytes)
    }

    /// Returns a string's expiry; `nil` for a string that was made with another key or is bound to another
    /// value.
    func expiry(of text: String, boundTo context: [UInt8] = []) -> Moment? {
        guard text.utf8.starts(with: prefix) else { return nil }
        let text = Array(text.utf8.dropFirst(prefix.count))
        let size = Self.expirySize + Self.randomSize + Self.codeSize
        guard text.count == size / 3 * 4, let bytes = Base64URL.decode(text[...]) else { return nil }
        let content = bytes.dropLast(Self.codeSize)
        guard mac.isValid(Array(bytes.suffix(Self.codeSize)), for: prefix + content + context) else {
            return nil
        }
        let milliseconds = content.prefix(Self.expirySize).reduce(0 as Int64) { $0 << 8 | Int64($1) }
        return Moment(milliseconds: milliseconds)
    }
}
