import Encodings

/// An e-mail address as Apple signed it. Never an identifier: it can change, and two users can have had the
/// same address.
public struct EmailAddress: Sendable, Hashable {
    public let address: String
    public let isVerified: Bool
    /// Indicates a relay address that hides the real address. `nil` when unknown.
    public let isPrivate: Bool?

    /// Returns `nil` unless the address has 1 to 320 characters (RFC 3696 §3) and no control character.
    public init?(address: String, isVerified: Bool, isPrivate: Bool?) {
        guard (1...320).contains(address.characterCount), !address.hasControlCharacters else {
            return nil
        }
        (self.address, self.isVerified, self.isPrivate) = (address, isVerified, isPrivate)
    }

    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.isVerified == rhs.isVerified && lhs.isPrivate == rhs.isPrivate
            && lhs.address.isByteEqual(to: rhs.address)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in address.utf8 { hasher.combine(byte) }
    }
}

extension EmailAddress: Comparable {
    /// Only makes the order total; no address is better than another.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        guard lhs.address.isByteEqual(to: rhs.address) else {
            return lhs.address.utf8.lexicographicallyPrecedes(rhs.address.utf8)
        }
        return lhs.flags < rhs.flags
    }

    private var flags: Int { (isVerified ? 1 : 0) + (isPrivate.map { $0 ? 4 : 2 } ?? 0) }
}
