import Encodings

/// A strict CBOR parser (RFC 8949), close to core deterministic encoding (§4.2.1).
///
/// If two readers interpret the same bytes differently, an attacker can make the second reader check a
/// different `authData`. So the parser refuses anything with more than one encoding: indefinite lengths,
/// numbers and lengths that are not minimal, duplicate keys, and trailing bytes. It also refuses tags,
/// floats, text that is not UTF-8, and input beyond `CBORLimits`. It does not check the key order, because
/// Apple does not sort keys.
struct CBORReader {
    private let bytes: ArraySlice<UInt8>
    private let limits: CBORLimits
    private var position: Int
    /// Number of arrays and maps that are open.
    private var depth = 0

    init(_ bytes: ArraySlice<UInt8>, limits: CBORLimits = CBORLimits()) throws(CBORError) {
        guard bytes.count <= limits.size else {
            throw CBORError(.tooLarge, detail: "more than \(limits.size) bytes")
        }
        (self.bytes, self.limits, position) = (bytes, limits, bytes.startIndex)
    }

    /// The bytes after the last item read.
    var rest: ArraySlice<UInt8> { bytes[position...] }

    /// Reads one item. `CBORLimits.depth` limits the recursion.
    mutating func readValue() throws(CBORError) -> CBORValue {
        let head = try readHead()
        switch head.type {
        case .unsigned: return .unsigned(head.argument)
        case .negative: return .negative(head.argument)
        case .bytes: return .bytes(try readBytes(head.argument))
        case .text:
            let text = try readBytes(head.argument)
            guard let string = String(validating: text, as: UTF8.self) else { throw error(.textInvalid) }
            return .text(string)
        case .array: return .array(try readArray(head.argument))
        case .map: return .map(try readMap(head.argument))
        case .simple:
            switch head.argument {
            case 20: return .bool(false)
            case 21: return .bool(true)
            case 22: return .null
            default: throw error(.typeNotAllowed)
            }
        case .tag: throw error(.typeNotAllowed)
        }
    }

    /// Refuses bytes after the item. Call this function once the item has been read.
    func finish() throws(CBORError) {
        guard position == bytes.endIndex else { throw error(.trailingBytes) }
    }

    private mutating func readArray(_ count: UInt64) throws(CBORError) -> [CBORValue] {
        let count = try open(count)
        var elements: [CBORValue] = []
        // The count is not used to reserve memory, because there may be fewer elements than it claims.
        for _ in 0..<count { elements.append(try readValue()) }
        depth -= 1
        return elements
    }

    private mutating func readMap(_ count: UInt64) throws(CBORError) -> CBORMap {
        let count = try open(count)
        var entries: [(key: CBORValue, value: CBORValue)] = []
        var keys: [ArraySlice<UInt8>] = []
        for _ in 0..<count {
            let start = position
            let key = try readKey()
            // Each key has only one encoding, so equal keys have equal bytes.
            let encoded = bytes[start..<position]
            guard !keys.contains(where: { $0.elementsEqual(encoded) }) else { throw error(.duplicateKey) }
            keys.append(encoded)
            entries.append((key, try readValue()))
        }
        depth -= 1
        return CBORMap(entries: entries)
    }

    private mutating func readKey() throws(CBORError) -> CBORValue {
        let key = try readValue()
        switch key {
        case .unsigned, .negative, .text: return key
        case .bytes, .array, .map, .bool, .null: throw error(.keyNotAllowed)
        }
    }

    /// Returns the number of elements or entries.
    private mutating func open(_ count: UInt64) throws(CBORError) -> Int {
        guard depth < limits.depth else { throw error(.tooDeep) }
        guard count <= UInt64(limits.items) else { throw error(.tooManyItems) }
        depth += 1
        return Int(count)
    }

    private mutating func readBytes(_ count: UInt64) throws(CBORError) -> ArraySlice<UInt8> {
        // Compares before it adds, because a length of 2⁶⁴ - 1 would overflow.
        guard count <= UInt64(bytes.endIndex - position) else { throw error(.truncated) }
        defer { position += Int(count) }
        return bytes[position..<position + Int(count)]
    }

    /// Reads an item's initial byte and argument (RFC 8949 §3).
    private mutating func readHead() throws(CBORError) -> (type: MajorType, argument: UInt64) {
        guard let initial = try readBytes(1).first, let type = MajorType(rawValue: initial >> 5) else {
            throw error(.truncated)
        }
        let information = initial & 0x1F
        switch information {
        case 0..<24: return (type, UInt64(information))
        case 24...27:
            // For simple types, these arguments encode floats and unassigned simple values, so they are
            // refused.
            guard type != .simple else { throw error(.typeNotAllowed) }
            let argument = try readBytes(1 << UInt64(information - 24)).reduce(0) { $0 << 8 | UInt64($1) }
            let smallest: UInt64 = information == 24 ? 24 : 1 << (4 << UInt64(information - 24))
            guard argument >= smallest else { throw error(.lengthNotMinimal) }
            return (type, argument)
        case 31: throw error(.indefiniteLength)
        default: throw error(.typeNotAllowed)
        }
    }

    private func error(_ code: CBORError.Code) -> CBORError {
        CBORError(code, detail: "at byte \(position - bytes.startIndex)")
    }

    /// An item's type, from the top three bits of its first byte (RFC 8949 §3.1).
    private enum MajorType: UInt8 {
        case unsigned, negative, bytes, text, array, map, tag, simple
    }
}

/// Limits that bound the cost of reading CBOR.
struct CBORLimits: Sendable {
    /// Maximum input size in bytes.
    let size: Int
    /// Maximum nesting depth of arrays and maps. An attestation object has 3.
    let depth: Int
    /// Maximum number of array elements or map entries. Duplicate keys are found by pairwise comparison, so
    /// the maximum also bounds that work.
    let items: Int

    init(size: Int = 16 * 1024, depth: Int = 6, items: Int = 32) {
        (self.size, self.depth, self.items) = (size, depth, items)
    }
}

/// The reason why CBOR was refused.
///
/// `detail` names a byte position, so it is for a debugger, never for a log or a response.
struct CBORError: CodedError {
    enum Code: String, Sendable, CaseIterable {
        /// The bytes end inside an item.
        case truncated
        /// Bytes follow the item.
        case trailingBytes = "trailing_bytes"
        /// A string, array or map has no length before its content.
        case indefiniteLength = "indefinite_length"
        /// A number or a length uses more bytes than necessary.
        case lengthNotMinimal = "length_not_minimal"
        /// The item is a tag, a float, or a simple value other than false, true and null.
        case typeNotAllowed = "type_not_allowed"
        /// A map key is neither an integer nor text.
        case keyNotAllowed = "key_not_allowed"
        case duplicateKey = "duplicate_key"
        /// A text string is not valid UTF-8.
        case textInvalid = "text_invalid"
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
        case tooManyItems = "too_many_items"
    }

    let code: Code
    let detail: String

    init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension CBORError: CustomDebugStringConvertible {
    var description: String { "CBOR: \(code.rawValue)" }
    var debugDescription: String { "\(description) (\(detail))" }
}

/// A CBOR item (RFC 8949 §3.1) of a type that App Attest uses, or that a new extension may use.
enum CBORValue: Sendable, Equatable {
    case unsigned(UInt64)
    /// The integer -1 - n.
    case negative(UInt64)
    case bytes(ArraySlice<UInt8>)
    case text(String)
    case array([CBORValue])
    case map(CBORMap)
    case bool(Bool)
    case null

    /// Parses exactly one item, as strictly as `CBORReader`.
    init(parsing bytes: ArraySlice<UInt8>, limits: CBORLimits = CBORLimits()) throws(CBORError) {
        var reader = try CBORReader(bytes, limits: limits)
        self = try reader.readValue()
        try reader.finish()
    }

    /// The integer; `nil` for other types, or if it does not fit in 64 bits.
    var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null: nil
        }
    }

    var bytes: ArraySlice<UInt8>? { if case .bytes(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [CBORValue]? { if case .array(let value) = self { value } else { nil } }
    var map: CBORMap? { if case .map(let value) = self { value } else { nil } }
}

/// A CBOR map whose entries are in input order. No key occurs twice.
struct CBORMap: Sendable, Equatable {
    /// The entries. Keys are integers and text strings.
    let entries: [(key: CBORValue, value: CBORValue)]

    /// The value for a text key; `nil` if there is none.
    subscript(key: String) -> CBORValue? {
        // The comparison uses bytes, because Swift's `==` treats some different strings as equal.
        entries.first { $0.key.text?.utf8.elementsEqual(key.utf8) == true }?.value
    }

    /// The value for an integer key; `nil` if there is none.
    subscript(key: Int64) -> CBORValue? {
        entries.first { $0.key.integer == key }?.value
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.entries.count == rhs.entries.count
            && zip(lhs.entries, rhs.entries).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }
}
