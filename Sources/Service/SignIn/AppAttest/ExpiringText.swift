import AppleAccounts
import Cryptography
import Encodings

/// Makes texts that expire and can be verified without storage, so that a text takes no row until it is used.
///
/// A text is the prefix and, in base64url, 6 bytes of expiry (milliseconds since 1970, big-endian), 16 random
/// bytes, and the HMAC-SHA-256 of all of this, and of what the text is bound to, under the key that the
/// replicas share.
struct ExpiringText: Sendable {
    private static let expirySize = 6
    private static let randomSize = 16
    private static let codeSize = 32

    private let prefix: [UInt8]
    private let mac: HMACSHA256

    /// - Parameter prefix: Another for each use, so that a text of one use is never accepted for another.
    init(prefix: String, key: NonceKey) {
        self.prefix = Array(prefix.utf8)
        mac = HMACSHA256(key: key.bytes)
    }

    /// - Parameter context: Value that the text is bound to. It is not part of the text.
    func make(expiresAt: Moment, boundTo context: [UInt8] = []) -> String {
        let milliseconds = UInt64(expiresAt.milliseconds)
        var bytes = (0..<Self.expirySize).reversed().map {
            UInt8(truncatingIfNeeded: milliseconds >> (UInt64($0) * 8))
        }
        bytes += SecureRandom.bytes(count: Self.randomSize)
        bytes += mac.code(for: prefix + bytes + context)
        return String(decoding: prefix, as: UTF8.self) + Base64URL.encode(bytes)
    }

    /// Returns the expiry of a text of this service. `nil` for a text that was not made with this key, or is
    /// bound to something else.
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
