import Encodings

/// A JSON document as a tree, for all code outside the hot path.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without a fraction or exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number, as written in the document.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Parses one whole document, as strictly as `JSONReader` does.
    ///
    /// Throws `.jsonInvalid` or `.characterNotAllowed`.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var reader = JSONReader(bytes, limits: limits)
        self = try reader.readValue()
        try reader.finish()
    }

    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The member with this name; `nil` if it is absent or the value is not an object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

extension JSONReader {
    /// Reads one value of any kind. `JSONLimits.depth` bounds the recursion.
    public mutating func readValue() throws(JSONError) -> JSONValue {
        switch try peekKind() {
        case .null:
            try readNull()
            return .null
        case .bool: return .bool(try readBool())
        case .string: return .string(try readString())
        case .number:
            switch try readNumber() {
            case .integer(let value): return .integer(value)
            case .other(let text): return .number(text)
            }
        case .array:
            var elements: [JSONValue] = []
            try beginArray()
            while try nextElement() { elements.append(try readValue()) }
            return .array(elements)
        case .object:
            var object = JSONObject()
            try beginObject()
            while let name = try nextMember() { object.append(name.string, try readValue()) }
            return .object(object)
        }
    }
}

/// Members of a JSON object, in document order.
public struct JSONObject: Sendable {
    public private(set) var members: [(name: String, value: JSONValue)]

    public init(_ members: [(String, JSONValue)] = []) {
        self.members = []
        for (name, value) in members { self[name] = value }
    }

    /// Value of the member whose name has the same bytes. Setting `nil` removes the member.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.isByteEqual(to: name) }?.value }
        set {
            let index = members.firstIndex { $0.name.isByteEqual(to: name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends a member, whose name the object must not contain yet.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append((name, value))
    }
}

extension JSONObject: Equatable {
    /// Returns true if both objects have equal members in the same order. It compares names byte for byte.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.members.elementsEqual(rhs.members) { $0.name.isByteEqual(to: $1.name) && $0.value == $1.value }
    }
}

/// Name of an object member. Names are compared byte for byte.
///
/// Swift's `==` for `String` compares by canonical equivalence ("K" equals U+212A), so this type does not
/// compare names as `String`. Three words are enough for nearly every name, so most names need no allocation
/// and no reference counting.
public struct JSONName: Sendable {
    @usableFromInline let count: Int
    /// First 24 bytes of the name, eight per word, padded with zeros.
    @usableFromInline let words: (UInt64, UInt64, UInt64)
    private let rest: [UInt8]?

    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, 0..<bytes.count)
    }

    /// Reads the name in this range of a document.
    init(_ document: UnsafeRawBufferPointer, _ range: Range<Int>) {
        let (start, end) = (range.lowerBound, range.upperBound)
        count = end - start
        words.0 = Self.word(of: document, from: start, to: end)
        words.1 = count > 8 ? Self.word(of: document, from: start + 8, to: end) : 0
        words.2 = count > 16 ? Self.word(of: document, from: start + 16, to: end) : 0
        rest = count > 24 ? Array(document[(start + 24)..<end]) : nil
    }

    /// Makes `switch name { case "iss": ... }` compare bytes, without allocation for names of at most 24
    /// bytes.
    @inlinable
    public static func ~= (literal: StaticString, name: JSONName) -> Bool {
        // The first two comparisons already distinguish most names.
        literal.utf8CodeUnitCount == name.count && literal.utf8Start.pointee == name.firstByte
            && name.hasBytes(of: literal)
    }

    @inlinable
    public static func == (name: JSONName, literal: StaticString) -> Bool {
        literal ~= name
    }

    public var string: String {
        var words = words
        let first = withUnsafeBytes(of: &words) { Array($0.prefix(count)) }
        return String(decoding: first + (rest ?? []), as: UTF8.self)
    }

    /// First byte of the name, or 0 for an empty name, as at the end of a C string literal.
    @inlinable
    var firstByte: UInt8 { UInt8(truncatingIfNeeded: UInt64(littleEndian: words.0)) }

    @usableFromInline
    func hasBytes(of literal: StaticString) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
        guard bytes.count == count, count <= 24 else { return self == JSONName(bytes) }
        return withUnsafeBytes(of: words) { mine in
            for index in 0..<count where mine[index] != bytes[index] { return false }
            return true
        }
    }

    /// Reads a word in the machine's byte order, so that the words have the same memory layout as the bytes.
    private static func word(of bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> UInt64 {
        if start + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            let excess = max(0, start + 8 - end)
            return UInt64(littleEndian: excess < 8 ? word & (.max >> (8 * UInt64(excess))) : 0)
        }
        var word: UInt64 = 0
        for index in (start..<end).reversed() { word = word << 8 | UInt64(bytes[index]) }
        return UInt64(littleEndian: word)
    }
}

extension JSONName: Equatable {
    public static func == (lhs: JSONName, rhs: JSONName) -> Bool {
        lhs.count == rhs.count && lhs.words == rhs.words && lhs.rest == rhs.rest
    }
}
