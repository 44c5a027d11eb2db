/// A CBOR item (RFC 8949) that the fake Apple writes. The fake Apple has its own writer, so that it does not
/// share a bug with the service's reader.
indirect enum CBORItem {
    case unsigned(UInt64)
    /// The integer -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORItem])
    case map([(key: CBORItem, value: CBORItem)])

    /// Bytes in the shortest encoding.
    var encoded: [UInt8] {
        switch self {
        case .unsigned(let value): Self.head(0, value)
        case .negative(let value): Self.head(1, value)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let entries): Self.head(5, UInt64(entries.count)) + Self.body(entries)
        }
    }

    static func body(_ entries: [(key: CBORItem, value: CBORItem)]) -> [UInt8] {
        entries.flatMap { $0.key.encoded + $0.value.encoded }
    }

    /// Returns the first byte and the argument, in as few bytes as possible.
    private static func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
        if argument < 24 { return [type << 5 | UInt8(argument)] }
        let size: UInt8 = argument < 1 << 8 ? 0 : argument < 1 << 16 ? 1 : argument < 1 << 32 ? 2 : 3
        return [type << 5 | 24 + size]
            + (0..<UInt64(1 << size)).reversed().map { UInt8(truncatingIfNeeded: argument >> (8 * $0)) }
    }
}

/// Encoding of the outer map in an App Attest object. Apple uses only the strict form.
enum ObjectForm: String, Sendable, CaseIterable {
    case strict
    /// The last quarter of the object is missing.
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    /// The first entry occurs twice, with different values.
    case duplicateKeys = "duplicate_keys"
    /// The map has no length, and ends with a break.
    case indefiniteLength = "indefinite_length"
    /// The map's length is written in a separate byte, although it would fit into the first byte.
    case longLength = "long_length"
    /// The map has an additional member that is 16 KiB long.
    case tooLarge = "too_large"

    func write(_ entries: [(key: CBORItem, value: CBORItem)]) -> [UInt8] {
        let strict = CBORItem.map(entries).encoded
        switch self {
        case .strict: return strict
        case .cutOff: return Array(strict.prefix(strict.count * 3 / 4))
        case .trailingBytes: return strict + [0xF6]
        case .duplicateKeys: return CBORItem.map(entries + [(entries[0].key, entries[1].value)]).encoded
        case .indefiniteLength: return [0xBF] + CBORItem.body(entries) + [0xFF]
        case .longLength: return [0xB8, UInt8(entries.count)] + CBORItem.body(entries)
        case .tooLarge:
            let padding = [UInt8](repeating: 0, count: 16 * 1024)
            return CBORItem.map(entries + [(.text("padding"), .bytes(padding))]).encoded
        }
    }
}
