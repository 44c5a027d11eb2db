/// A field of a receipt: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }` in DER.
struct ReceiptField {
    let type: Int
    let value: ArraySlice<UInt8>

    /// Apple sends 8 to 10.
    private static let most = 32

    /// Reads `SET OF SEQUENCE`, in any order. Returns `nil` for anything else, also for a length that is not
    /// minimal, for more than 32 fields, and for bytes after the set.
    static func fields(of content: [UInt8]) -> [ReceiptField]? {
        var rest = content[...]
        guard var set = read(&rest, tag: 0x31), rest.isEmpty else { return nil }
        var fields: [ReceiptField] = []
        while !set.isEmpty {
            guard fields.count < most, var sequence = read(&set, tag: 0x30),
                let type = read(&sequence, tag: 0x02), read(&sequence, tag: 0x02) != nil,
                let value = read(&sequence, tag: 0x04), sequence.isEmpty, let number = number(type)
            else { return nil }
            fields.append(ReceiptField(type: number, value: value))
        }
        return fields
    }

    /// Reads one item, and moves `bytes` to the bytes after it. Returns `nil` for another tag.
    private static func read(_ bytes: inout ArraySlice<UInt8>, tag: UInt8) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var size = Int(first)
        if first > 0x7F {
            let count = Int(first & 0x7F)
            // The content has at most 16 KiB, so two bytes are enough.
            guard (1...2).contains(count), bytes.count >= count, bytes.first != 0 else { return nil }
            size = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
            guard size > 0x7F else { return nil }
        }
        guard size <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(size) }
        return bytes.prefix(size)
    }

    /// A number of 0 to 32767. `nil` for others, and for a number with a byte too many.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, first < 0x80, bytes.count <= 2 else { return nil }
        guard bytes.count == 1 || first != 0 || bytes.last.map({ $0 > 0x7F }) == true else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
