/// The form in which the outer map of an object of App Attest is written. Apple writes the strict form only.
enum ObjectForm: String, Sendable, CaseIterable {
    case strict
    /// The last quarter is missing.
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    /// The first entry occurs twice, the second time with another value.
    case duplicateKeys = "duplicate_keys"
    /// A map without a length, ended by a break.
    case indefiniteLength = "indefinite_length"
    /// The length of the map in a byte of its own, although the first byte has room for it.
    case longLength = "long_length"
    /// Another member of 16 KiB.
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
