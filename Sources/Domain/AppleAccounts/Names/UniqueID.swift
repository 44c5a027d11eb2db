/// A version 7 UUID (RFC 9562 §5.7): 48 bits of time, followed by 74 random bits.
///
/// New IDs sort after old IDs, so an index over them grows at its end.
public struct UniqueID: Hashable, Sendable {
    /// The first eight bytes, most significant byte first.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Creates an ID from its stored halves, without checking version and variant.
    public init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Creates an ID from the time and random bits.
    public init(at moment: Moment, using generator: inout some RandomNumberGenerator) {
        let time = UInt64(moment.milliseconds) & 0xFFFF_FFFF_FFFF
        high = time << 16 | 0x7000 | generator.next() & 0x0FFF
        low = 0x8000_0000_0000_0000 | generator.next() >> 2
    }

    /// Parses only the format of `text`, lowercase with hyphens, so that each ID has only one spelling.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (position, byte) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(position) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            digits += 1
        }
        (high, low) = halves
    }

    /// Returns the prefix, followed by the format "0193a5e0-7c00-7abc-8def-0123456789ab".
    func text(prefix: StaticString) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: prefix.utf8CodeUnitCount + 36) { buffer in
            for index in 0..<prefix.utf8CodeUnitCount { buffer[index] = prefix.utf8Start[index] }
            var end = prefix.utf8CodeUnitCount
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    buffer[end] = UInt8(ascii: "-")
                    end += 1
                }
                let half = nibble < 16 ? high : low
                let shift = UInt64(60 - 4 * (nibble & 15))
                buffer[end] = digits.utf8Start[Int(half >> shift & 0xF)]
                end += 1
            }
            return end
        }
    }
}

extension UniqueID: Comparable {
    /// Compares bytes, as the databases do.
    public static func < (lhs: Self, rhs: Self) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }
}

extension UniqueID {
    /// The 16 bytes, most significant byte first.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// Returns `nil` unless there are exactly 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

/// The opaque name of an account: "acc_" and a version 7 UUID.
///
/// It reveals nothing about the user, and stays the same when the user gets another `sub` in a new team.
public struct AccountID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Parses the format of `rawValue`. Returns `nil` for any other text.
    public init?(_ text: String) {
        guard text.hasPrefix("acc_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "acc_") }
}

/// The name of an account event: "evt_" and a version 7 UUID. It is the same every time the event is read.
public struct EventID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Parses the format of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("evt_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "evt_") }
}

/// The name of an erasure: "era_" and a version 7 UUID.
public struct ErasureID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Parses the format of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("era_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "era_") }
}

/// The name of an OAuth grant: "grt_" and a version 7 UUID. An
/// account has at most one grant per OAuth client at a time.
public struct GrantID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Parses the format of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("grt_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "grt_") }
}
