/// A named key from which keys for AES-256-GCM (NIST SP 800-38D) are derived. Its bytes appear in no
/// description.
///
/// One AES-GCM key must not seal more than 2^32 values with random nonces (§8.3). Therefore each value has
/// its own key, derived with HKDF from the purpose and 16 random bytes. Among 2^48 values of one purpose, the
/// probability that two have the same key is 2^-33, and even then their nonces differ. With 50,000 seals per
/// second, more than callers can cause, 2^48 values take 178 years.
public struct SealingKey: Sendable {
    /// 1 to 32 characters of `[A-Za-z0-9_-]`. It is part of every sealed value, so it is not secret and must
    /// not change.
    public let name: String
    let bytes: [UInt8]

    /// The size in bytes: 256 bits.
    public static let size = 32

    /// Returns `nil` when the name is malformed, or there are not exactly 32 bytes.
    public init?(name: String, bytes: [UInt8]) {
        guard Self.isName(Array(name.utf8)[...]), bytes.count == Self.size else { return nil }
        self.name = name
        self.bytes = bytes
    }

    /// Returns true if two keys have the same bytes. The duration does not depend on the position of a
    /// difference.
    public func hasSameBytes(as other: SealingKey) -> Bool {
        ConstantTime.areEqual(bytes, other.bytes)
    }

    /// The beginning of the hash of its bytes, so that operators can compare keys: 32 bits of the hash of 256
    /// random bits tell nothing about them.
    public var fingerprint: String {
        let hash = SHA256Digest.hash(Array("siwa fingerprint\n".utf8) + bytes)
        return hash.bytes.prefix(4).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The number of distinct values among its 32 bytes. A small number shows that the key is not random.
    public var distinctBytes: Int { Set(bytes).count }

    /// Frequency of the most common difference of two neighbours among the 31 differences. A large number
    /// shows that the bytes count up or down, or spell the alphabet.
    public var equalSteps: Int {
        var counts: [UInt8: Int] = [:]
        for (byte, next) in zip(bytes, bytes.dropFirst()) { counts[next &- byte, default: 0] += 1 }
        return counts.values.max() ?? 0
    }

    /// The key for one value (RFC 5869).
    func derived(for purpose: SealingPurpose, salt: [UInt8]) -> [UInt8] {
        HKDFSHA256.deriveKey(
            from: bytes, salt: salt, info: Array("siwa seal 1\n\(purpose.rawValue)".utf8))
    }

    static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        (1...32).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension SealingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "sealing key \(name)" }
    public var debugDescription: String { description }
    /// `dump` and string interpolation of types that contain a key use these.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// The purpose of a sealed value. Different purposes have independent keys, so that values that outsiders can
/// have sealed in any number reveal nothing about the keys of other values.
public struct SealingPurpose: Sendable, Hashable {
    /// Part of the key derivation, so it must never change.
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}
