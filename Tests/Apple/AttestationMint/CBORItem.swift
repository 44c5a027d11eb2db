/// An item of CBOR to be written (RFC 8949). It can also be written in ways that are not allowed.
public indirect enum CBORItem: Sendable {
    case unsigned(UInt64)
    /// The integer -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORItem])
    case map([(CBORItem, CBORItem)])
    /// Bytes that are written as they are.
    case raw([UInt8])

    public var encoded: [UInt8] {
        switch self {
        case .unsigned(let value): Self.head(0, value)
        case .negative(let value): Self.head(1, value)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let entries):
            Self.head(5, UInt64(entries.count)) + entries.flatMap { $0.0.encoded + $0.1.encoded }
        case .raw(let bytes): bytes
        }
    }

    /// The first byte and the argument in the fewest bytes.
    private static func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
        if argument < 24 { return [type << 5 | UInt8(argument)] }
        let size = argument < 1 << 8 ? 0 : argument < 1 << 16 ? 1 : argument < 1 << 32 ? 2 : 3
        return [type << 5 | UInt8(24 + size)]
            + (0..<(1 << size)).reversed().map { UInt8(truncatingIfNeeded: argument >> (8 * UInt64($0))) }
    }
}
