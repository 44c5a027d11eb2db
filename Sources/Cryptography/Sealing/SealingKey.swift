/// A named key from which the keys of AES-256-GCM (NIST SP 800-38D) are derived. Its bytes show in no description.
///
/// One key of AES-GCM must not seal more than 2^32 values with random nonces (§8.3). Here each value has a key of its own,
/// by HKDF for its purpose and 16 random bytes: among 2^48 values of one purpose two have the same with a probability of
/// 2^-33, and then their nonces still differ. At 50,000 seals a second, more than any caller can bring about, those are 178
/// years.
public struct SealingKey: Sendable {
    /// 1 to 32 of `[A-Za-z0-9_-]`. Stands in every sealed value, so it is no secret and must not change.
    public let name: String
    let bytes: [UInt8]

    /// What a key has: 256 bits.
    public static let size = 32

    /// `nil` when the name is of another shape, or there are not exactly 32 bytes.
    public init?(name: String, bytes: [UInt8]) {
        guard Self.isName(Array(name.utf8)[...]), bytes.count == Self.size else { return nil }
        self.name = name
        self.bytes = bytes
    }

    /// Whether two keys are the same under different names. Takes the same time wherever they differ.
    public func hasSameBytes(as other: SealingKey) -> Bool {
        ConstantTime.areEqual(bytes, other.bytes)
    }

    /// How many of its 32 bytes are different ones, by which a key that was made by hand is found.
    public var distinctBytes: Int { Set(bytes).count }

    /// The key for one value (RFC 5869).
    func derived(for purpose: SealingPurpose, salt: [UInt8]) -> [UInt8] {
        HKDFSHA256.deriveKey(
            from: bytes, salt: salt, info: Array("siwa seal 2\n\(purpose.rawValue)".utf8))
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
    /// `dump` and interpolation of whatever holds a key go through here.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
