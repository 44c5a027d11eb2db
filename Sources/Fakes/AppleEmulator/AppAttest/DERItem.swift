import Encodings

/// A DER item (X.690) that the fake Apple writes, for certificates and receipts.
indirect enum DERItem {
    case boolean(Bool)
    /// A nonnegative number, highest byte first.
    case integer([UInt8])
    case bitString([UInt8])
    case octetString([UInt8])
    case null
    /// An object identifier in dotted form.
    case objectIdentifier(String)
    case text(String)
    /// A time in seconds since 1970, until the end of 2049.
    case time(Int64)
    case sequence([DERItem])
    /// A set whose items keep their order, as in Apple's receipts.
    case set([DERItem])
    /// A constructed item with a context-specific tag.
    case tagged(UInt8, [DERItem])
    /// Bytes that are already encoded as DER.
    case encoded([UInt8])

    static func integer(_ value: Int) -> DERItem {
        .integer((0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    var bytes: [UInt8] {
        switch self {
        case .boolean(let value): Self.item(0x01, [value ? 0xFF : 0x00])
        case .integer(let number): Self.item(0x02, Self.shortest(number))
        case .bitString(let bytes): Self.item(0x03, [0] + bytes)
        case .octetString(let bytes): Self.item(0x04, bytes)
        case .null: [0x05, 0x00]
        case .objectIdentifier(let text): Self.item(0x06, Self.identifier(text))
        case .text(let text): Self.item(0x0C, Array(text.utf8))
        case .time(let seconds): Self.item(0x17, Self.time(seconds))
        case .sequence(let items): Self.item(0x30, items.flatMap(\.bytes))
        case .set(let items): Self.item(0x31, items.flatMap(\.bytes))
        case .tagged(let tag, let items): Self.item(0xA0 | tag, items.flatMap(\.bytes))
        case .encoded(let bytes): bytes
        }
    }

    static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count > 0x7F else { return [tag, UInt8(content.count)] + content }
        let size = (0..<8).reversed().map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }.drop {
            $0 == 0
        }
        return [tag, 0x80 | UInt8(size.count)] + size + content
    }

    /// Returns a number without leading zeros. Keeps one zero byte before a set top bit, which would
    /// otherwise make the number negative.
    private static func shortest(_ number: [UInt8]) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        return (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits
    }

    /// Encodes each arc in base 128, with the first two arcs combined into one number.
    private static func identifier(_ text: String) -> [UInt8] {
        let arcs = text.split(separator: ".").compactMap { UInt64($0) }
        return ([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2)).flatMap { arc in
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            return groups
        }
    }

    private static func time(_ seconds: Int64) -> [UInt8] {
        let time = CivilTime(secondsSince1970: seconds)
        let parts = [time.year % 100, time.month, time.day, time.hour, time.minute, time.second]
        return parts.flatMap { [UInt8(48 + $0 / 10), UInt8(48 + $0 % 10)] } + Array("Z".utf8)
    }
}
